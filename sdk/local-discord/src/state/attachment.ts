/** A file as it came with a request. */
export interface UploadedFile {
  name: string;
  data: Uint8Array;
  contentType?: string | undefined;
  description?: string | undefined;
}

/** A file that Discord keeps; its bytes are served from `url`. */
export interface LocalAttachment {
  readonly id: string;
  readonly filename: string;
  /** In bytes. */
  readonly size: number;
  readonly data: Uint8Array;
  readonly contentType: string;
  /** Works for a day. */
  readonly url: string;
  description: string | undefined;
  readonly ephemeral: boolean;
}
