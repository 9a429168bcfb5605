import { TextDecoder } from 'node:util';
import { UserError } from '@cinnabar/sdk';

const HTML = /^(text\/html|application\/xhtml\+xml)$/;
const PLAIN = /^(text\/[\w.+-]+|application\/([\w.+-]+\+)?(json|xml)|application\/(yaml|x-yaml|toml|ld\+json))$/;

export interface PageType {
  readonly isHtml: boolean;
  readonly charset: string;
}

/** @throws UserError for what is not text, before any of it is read */
export function readContentType(contentType: string): PageType {
  const [type = '', ...parameters] = contentType.split(';').map((part) => part.trim().toLowerCase());
  const charset = parameters.find((parameter) => parameter.startsWith('charset='))?.slice('charset='.length) ?? 'utf-8';
  const isHtml = HTML.test(type);
  if (!isHtml && !PLAIN.test(type)) {
    throw new UserError(`Only text is read, and this is ${type === '' ? 'of no known kind' : type}.`);
  }
  return { isHtml, charset: charset.replaceAll('"', '') };
}

export function decode(bytes: Uint8Array, charset: string): string {
  return decoderFor(charset).decode(bytes);
}

function decoderFor(charset: string): TextDecoder {
  try {
    return new TextDecoder(charset);
  } catch {
    return new TextDecoder();
  }
}
