/** Text, or what it cannot say: the kinds of content that the Model Context Protocol knows. Bytes are base64. */
export type ToolContent =
  | { readonly type: 'text'; readonly text: string }
  | { readonly type: 'image' | 'audio'; readonly data: string; readonly mimeType: string }
  | { readonly type: 'resource'; readonly resource: ToolResource }
  | {
      readonly type: 'resource_link';
      readonly uri: string;
      readonly name: string;
      readonly description?: string;
      readonly mimeType?: string;
    };

/** A document in a result, with its text or its bytes. */
export interface ToolResource {
  readonly uri: string;
  readonly mimeType?: string;
  readonly text?: string;
  readonly blob?: string;
}

/** How far a call has come. `progress` only ever rises. */
export interface ToolProgress {
  readonly progress: number;
  /** What `progress` will be in the end, when that is known. */
  readonly total?: number;
  /** For people: "reading page 3". */
  readonly message?: string;
}
