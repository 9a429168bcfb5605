/** What was found of another program, in its own words. */
export interface ImportSource {
  readonly files: readonly SourceFile[];
  /** Folders of tool calls: `{channel}/{YYYY-MM-DD-HH}.jsonl` inside. */
  readonly tools: readonly { readonly bot: string; readonly folder: string }[];
}

export interface SourceFile {
  readonly path: string;
  /** Path inside the folder that is imported: for messages. */
  readonly shown: string;
  /** Where it goes, relative to the folder of the configuration. */
  readonly target: string;
  /** The bot it is about, if about one. */
  readonly bot: string | undefined;
  /** What holds there without being said. */
  readonly implied?: Readonly<Record<string, unknown>>;
}
