/** Word from tab to tab, and within this one, that a conversation has changed. */

/** Is the word: which conversation, and whether it is gone. */
export interface News {
  readonly conversationId: string;
  readonly deleted: boolean;
}

const tabs = new BroadcastChannel("parley-conversations");
const listeners = new Set<(news: News) => void>();

tabs.onmessage = ({ data }: MessageEvent<News>) => spread(data);

/** Calls the listener whenever some conversation has changed, here or in another tab. */
export function onNews(listener: (news: News) => void): void {
  listeners.add(listener);
}

/** Tells every tab, this one too, that a conversation has changed, or is gone. */
export function tell(conversationId: string, deleted = false): void {
  const news = { conversationId, deleted };
  tabs.postMessage(news);
  spread(news);
}

function spread(news: News): void {
  for (const listener of listeners) listener(news);
}
