/** The files of an answer: picking, uploading, removing. */

import type { FilesInput } from "@parley/client/v1/asks";
import { useEffect, useId, useRef, useState } from "preact/hooks";
import type { AskHost } from "../host";
import { whyOf } from "../why";
import type { FileDraft, FilesDraft } from "./drafts";
import { fileBoundsOf } from "./faults";
import { FileLine } from "./file_line";
import { acceptAttribute, declaredType, nounsOf, takes } from "./file_types";
import { type Controls, describedBy, Problem } from "./problem";
import { filesOf } from "./wording";

interface FilesFieldsProps extends Controls {
  readonly files: FilesInput;
  readonly draft: FilesDraft;
  readonly onDraft: (change: (before: FilesDraft) => FilesDraft) => void;
  readonly host: AskHost;
}

const PLACE = "content.files";

/** Shows the files and takes more. Each is uploaded as soon as it is picked. */
export function FilesFields({ files, draft, onDraft, host, problemAt, touch }: FilesFieldsProps) {
  const id = useId();
  const input = useRef<HTMLInputElement>(null);
  const [notice, setNotice] = useState("");
  const [over, setOver] = useState(false);
  const uploads = useUploads(onDraft, host);
  const bounds = fileBoundsOf(files);
  const problem = problemAt(PLACE);

  const add = (picked: readonly File[]) => {
    // Files can be dropped on a form that is being sent; what is sent has no place for them.
    if (input.current?.matches(":disabled")) return;
    const { taken, said } = sift(files, picked, bounds.max - draft.files.length);
    setNotice(said);
    for (const file of taken) uploads.start(file);
    touch(PLACE);
  };
  const remove = (key: number) => {
    uploads.stop(key);
    setNotice("");
    onDraft((before) => ({ ...before, files: before.files.filter((file) => file.key !== key) }));
    touch(PLACE);
    // The line goes away with its button; what comes next is to add another file.
    input.current?.focus();
  };
  return (
    <fieldset class="p-field p-files">
      <legend class="p-label">{filesOf(bounds)}</legend>
      {draft.files.length > 0 && (
        <ul class="p-upload-list">
          {draft.files.map((file, index) => (
            <FileLine
              key={file.key}
              file={file}
              problem={problemAt(`${PLACE}[${index}]`)}
              onRemove={() => remove(file.key)}
              onRetry={() => uploads.again(file.key)}
            />
          ))}
        </ul>
      )}
      <div data-problem={problem ? "" : undefined}>
        <label
          class={over ? "p-drop p-drop-over" : "p-drop"}
          onDragOver={(event) => {
            event.preventDefault();
            setOver(true);
          }}
          onDragLeave={() => setOver(false)}
          onDrop={(event) => {
            event.preventDefault();
            setOver(false);
            add([...(event.dataTransfer?.files ?? [])]);
          }}
        >
          <span class="p-drop-words">Choose files or drop them here</span>
          <span class="p-helper">{nounsOf(files)}</span>
          <input
            type="file"
            class="p-drop-input"
            ref={input}
            accept={acceptAttribute(files)}
            multiple={bounds.max > 1}
            aria-invalid={problem ? true : undefined}
            aria-describedby={describedBy(problem && `${id}-problem`)}
            onChange={({ currentTarget }) => {
              add([...(currentTarget.files ?? [])]);
              // Else picking the same file again would be no change.
              currentTarget.value = "";
            }}
            onBlur={() => touch(PLACE)}
          />
        </label>
      </div>
      {notice && (
        <p class="p-problem" role="alert">
          {notice}
        </p>
      )}
      <Problem id={`${id}-problem`} text={problem} />
    </fieldset>
  );
}

/** Returns which of the picked files the ask takes, declared as their type, and what to say of the rest. */
function sift(files: FilesInput, picked: readonly File[], room: number) {
  const fitting = picked
    .map((file) => new File([file], file.name, { type: declaredType(file) }))
    .filter((file) => takes(files, file.type));
  const said: string[] = [];
  if (fitting.length < picked.length) said.push(`Only ${nounsOf(files)} can be added here.`);
  if (fitting.length > room) said.push(`${filesOf(fileBoundsOf(files))}; the rest was left out.`);
  return { taken: fitting.slice(0, Math.max(0, room)), said: said.join(" ") };
}

/** Returns what starts and stops uploads. All of them stop when the form goes away. */
function useUploads(onDraft: FilesFieldsProps["onDraft"], host: AskHost) {
  const last = useRef(0);
  const running = useRef(new Map<number, AbortController>());
  const picked = useRef(new Map<number, File>());
  useEffect(() => {
    const calls = running.current;
    return () => {
      for (const call of calls.values()) call.abort();
    };
  }, []);

  const settle = (key: number, state: FileDraft["state"]) =>
    onDraft((before) => ({
      ...before,
      files: before.files.map((file) => (file.key === key ? { ...file, state } : file)),
    }));
  const upload = async (key: number, file: File) => {
    const call = new AbortController();
    running.current.set(key, call);
    try {
      const ref = await host.upload(file, call.signal);
      if (!call.signal.aborted) settle(key, { is: "kept", ref });
    } catch (failed) {
      if (!call.signal.aborted) settle(key, { is: "failed", why: whyOf(failed) });
    } finally {
      if (running.current.get(key) === call) running.current.delete(key);
    }
  };
  return {
    start: (file: File) => {
      last.current += 1;
      const key = last.current;
      picked.current.set(key, file);
      const added = { key, name: file.name, bytes: file.size, state: { is: "uploading" } } as const;
      onDraft((before) => ({ ...before, files: [...before.files, added] }));
      void upload(key, file);
    },
    again: (key: number) => {
      const file = picked.current.get(key);
      if (!file) return;
      settle(key, { is: "uploading" });
      void upload(key, file);
    },
    stop: (key: number) => {
      running.current.get(key)?.abort();
      picked.current.delete(key);
    },
  };
}
