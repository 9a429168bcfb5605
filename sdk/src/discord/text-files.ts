import { withoutNotes } from '../text/notes.js';
import { type DownloadFailure, type DownloadOptions, downloadAttachment } from './attachments.js';

/** By what it is called: Discord takes `.ts` for a video, and knows nothing of `.rs`. */
const NAMES =
  /(?:^|\.)(?:txt|text|log|md|markdown|rst|csv|tsv|json|jsonl|json5|ya?ml|toml|ini|cfg|conf|properties|xml|html?|css|scss|less|[cm]?[jt]sx?|vue|svelte|py|pyi|rb|php|pl|lua|r|jl|java|kt|kts|scala|groovy|cs|fs|vb|swift|m|mm|c|h|cc|cpp|cxx|hpp|hh|go|rs|zig|nim|hs|ml|ex|exs|erl|clj|lisp|el|dart|sh|bash|zsh|fish|ps1|bat|cmd|sql|graphql|proto|tf|tex|diff|patch|srt|vtt|dockerfile|makefile|gitignore|editorconfig)$/iu;
const TYPES = /^(?:text\/|application\/(?:json|xml|x-yaml|yaml|toml|javascript|typescript|x-sh|sql)\b)/iu;

/** Whether an attachment is a text, by its name or its type. What it holds may show otherwise. */
export function isTextFile(file: { readonly name: string; readonly contentType: string | null }): boolean {
  return NAMES.test(file.name) || TYPES.test(file.contentType ?? '');
}

/** What an attached text file says. */
export interface TextFile {
  /** For a prompt in which lines in square brackets are the host's: none of its lines reads as one. */
  readonly text: string;
  /** Whether the file is longer. */
  readonly cut: boolean;
}

/** Downloads and reads the beginning of a text file, at most `maxBytes` of it. What holds no text is a `final` failure. Never throws. */
export async function readTextFile(
  file: { readonly url: string; readonly size: number },
  options: Omit<DownloadOptions, 'cut'>,
): Promise<TextFile | DownloadFailure> {
  if (!URL.canParse(file.url)) return 'final';
  const bytes = await downloadAttachment(new URL(file.url), { ...options, cut: true });
  if (typeof bytes === 'string') return bytes;
  const cut = file.size > bytes.byteLength;
  const text = textIn(bytes, cut);
  return text === undefined ? 'final' : { text: withoutNotes(text).trim(), cut };
}

/** UTF-8, or UTF-16 with its mark. A character that was cut in two is left out. */
function textIn(bytes: Buffer, cut: boolean): string | undefined {
  const [first, second] = bytes;
  const encoding =
    first === 0xff && second === 0xfe ? 'utf-16le' : first === 0xfe && second === 0xff ? 'utf-16be' : 'utf-8';
  try {
    const text = new TextDecoder(encoding, { fatal: true }).decode(bytes, { stream: cut });
    return text.includes('\0') ? undefined : text;
  } catch {
    return undefined;
  }
}
