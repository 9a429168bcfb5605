/** What `task …` asks for when it is not a task. */
export type Words =
  | {
      readonly kind: 'stop' | 'pause' | 'resume' | 'approvals' | 'revoke';
      /** The end of a task's id. */
      readonly task: string | undefined;
      /** For `revoke`: which one, as `approvals` lists them. */
      readonly approval: string | undefined;
    }
  /** What follows `continue`: a word for the task, after the end of its id where it is named. */
  | { readonly kind: 'continue'; readonly text: string };

const CONTROL = /^(stop|pause|resume|approvals)(?:\s+([a-z0-9]{5,26}))?$/;
const REVOKE = /^revoke\s+(\d{1,3})(?:\s+([a-z0-9]{5,26}))?$/;
const CONTINUE = /^continue(?:\s+([\s\S]+))?$/;

/** Only these exact forms, in lower case, are commands: `!task Stop the music at ten` is a task. */
export function wordsOf(text: string): Words | undefined {
  const words = text.trim();
  const [, kind, task] = CONTROL.exec(words) ?? [];
  if (kind === 'stop' || kind === 'pause' || kind === 'resume' || kind === 'approvals') {
    return { kind, task, approval: undefined };
  }
  const more = CONTINUE.exec(words);
  if (more !== null) return { kind: 'continue', text: (more[1] ?? '').trim() };
  const [, approval, of] = REVOKE.exec(words) ?? [];
  return approval === undefined ? undefined : { kind: 'revoke', approval, task: of };
}
