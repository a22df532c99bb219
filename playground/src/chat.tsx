/** The open conversation: what was said, what happens, and where the person writes. */

import { computed } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import { ChatHeader } from "./chat_header";
import { Composer } from "./composer";
import { conversationId, stored } from "./conversation";
import { busy, turn } from "./following";
import { ChatLine } from "./lines";
import { NoticeBar } from "./notice_bar";
import { pending } from "./pending";
import { Question } from "./question";
import { retry, send } from "./sending";
import { linesOf } from "./transcript";

const lines = computed(() => linesOf(stored.value?.messages ?? [], turn.value));

/** Is the phone of the picture. */
export function Chat() {
  const page = useRef<HTMLDivElement>(null);
  useEnd(page);
  return (
    <main class="p-chat" aria-label="Chat">
      <ChatHeader />
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: the keyboard has to be able to scroll it. */}
      <section ref={page} class="p-scroll" aria-label="Messages" tabIndex={0}>
        <div class="p-column">
          <Beginning />
          <ol class="p-lines">
            {lines.value.map((line) => (
              <ChatLine key={line.key} line={line} />
            ))}
          </ol>
          <Working />
          <Failed />
          <Question />
        </div>
      </section>
      <div class="p-column p-foot">
        <NoticeBar />
        <Composer />
      </div>
    </main>
  );
}

const SUGGESTIONS = [
  "Show my sales",
  "Set up my plan",
  "Plan my weekend",
  "Write an invitation",
  "Book a table",
  "Look at a document",
  "Delete my completed todos",
];

/** Is all there is of a conversation at first. */
function Beginning() {
  if (turn.value) return null;
  if (conversationId.value) return stored.value ? null : <p class="p-quiet">Reading…</p>;
  return (
    <div class="p-beginning">
      <h2>What shall it be?</h2>
      <p class="p-help">Say anything, or begin with one of these.</p>
      <div class="p-suggestions">
        {SUGGESTIONS.map((each) => (
          <button key={each} type="button" class="p-button" onClick={() => void send(each, [])}>
            {each}
          </button>
        ))}
      </div>
    </div>
  );
}

/** Shows that the agent works, as long as nothing else does. */
function Working() {
  if (!busy.value || turn.value?.reply || turn.value?.ask) return null;
  if (pending.value) return null;
  return (
    <p class="p-working">
      <span class="p-unseen">The agent is at work.</span>
      <span class="p-dots" aria-hidden="true">
        <i />
        <i />
        <i />
      </span>
    </p>
  );
}

/** Says why the latest turn failed, and goes on with it. */
function Failed() {
  const failure = stored.value?.failure;
  if (!failure || busy.value) return null;
  const { turnId, error } = failure;
  return (
    <div class="p-failed" role="alert">
      <p>{error?.message || "The agent could not finish its reply."}</p>
      <button type="button" class="p-button" onClick={() => void retry(turnId)}>
        Retry
      </button>
    </div>
  );
}

/** So many pixels are left above a question that is scrolled to. */
const MARGIN = 12;
/** Whoever is so many pixels above the end reads the end. */
const NEAR = 80;

/** Keeps the end in view while lines come, unless the person reads further up. */
function useEnd(page: { readonly current: HTMLDivElement | null }): void {
  const follows = useRef(true);
  const id = conversationId.value;
  const works = busy.value;
  useEffect(() => {
    // Another conversation begins at its end, and what the agent does now is what matters now.
    if (works || id) follows.current = true;
  }, [works, id]);
  useEffect(() => {
    const scrolled = page.current;
    const content = scrolled?.firstElementChild;
    if (!scrolled || !content) return;
    const note = () => {
      const below = scrolled.scrollHeight - scrolled.scrollTop - scrolled.clientHeight;
      follows.current = below < NEAR;
    };
    // The content grows after it was drawn, too: charts and images come later.
    const growth = new ResizeObserver(() => {
      if (!follows.current) return;
      // A question that is higher than the view begins at its beginning.
      const question = content.querySelector<HTMLElement>(".p-question");
      const top = (question?.offsetTop ?? Number.POSITIVE_INFINITY) - MARGIN;
      scrolled.scrollTop = Math.min(scrolled.scrollHeight, top);
    });
    growth.observe(content);
    scrolled.addEventListener("scroll", note, { passive: true });
    return () => {
      growth.disconnect();
      scrolled.removeEventListener("scroll", note);
    };
  }, [page]);
}
