/** What a process asks of a disk, in the order in which it was done, as far as a power cut can take it back. */
export type DiskOperation =
  /** A file of that name appears. */
  | { readonly op: 'create'; readonly path: string; readonly file: string }
  | { readonly op: 'write'; readonly file: string; readonly at: number; readonly base64: string }
  | { readonly op: 'truncate'; readonly file: string; readonly size: number }
  | { readonly op: 'rename'; readonly from: string; readonly to: string }
  | { readonly op: 'link'; readonly from: string; readonly to: string }
  | { readonly op: 'unlink'; readonly path: string }
  | { readonly op: 'mkdir'; readonly path: string }
  /** The content of a file is kept, as it was after the first `upTo` operations. */
  | { readonly op: 'sync'; readonly file: string; readonly upTo: number }
  /** So are the names in a folder. */
  | { readonly op: 'syncFolder'; readonly path: string; readonly upTo: number };

/** What the recording process is told, in the variable `CINNABAR_POWERCUT`. */
export interface RecorderOrders {
  /** Everything below is recorded. */
  readonly root: string;
  /** Where operations go, one line of JSON each. */
  readonly log: string;
  /** The power goes when so many operations have been done; never without it. */
  readonly cutAfter?: number;
}

/** The name by which operations know a file that was there before the first of them. */
export const fileBefore = (path: string): string => `before:${path}`;
