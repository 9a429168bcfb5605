import { TextDecoder } from 'node:util';
import { UserError } from '@cinnabar/sdk';
import { convert } from 'html-to-text';

const HTML = /^(text\/html|application\/xhtml\+xml)$/;
const PLAIN = /^(text\/[\w.+-]+|application\/([\w.+-]+\+)?(json|xml)|application\/(yaml|x-yaml|toml|ld\+json))$/;

/** @throws UserError for what is not text, before any of it is read */
export function checkContentType(contentType: string): void {
  const { type } = parse(contentType);
  if (!HTML.test(type) && !PLAIN.test(type)) {
    throw new UserError(`Only text is read, and this is ${type === '' ? 'of no known kind' : type}.`);
  }
}

/** The words of a page: of HTML without scripts, styles and navigation, with links as they are read. */
export function textOf(bytes: Buffer, contentType: string): string {
  const { type, charset } = parse(contentType);
  const text = decoderFor(charset).decode(bytes);
  if (!HTML.test(type)) return text;
  return convert(text, {
    wordwrap: false,
    limits: { maxInputLength: 2 * 1024 * 1024, maxDepth: 200, maxChildNodes: 20_000, ellipsis: '…' },
    selectors: [
      ...['img', 'script', 'style', 'nav', 'svg', 'noscript', 'template'].map((selector) => ({
        selector,
        format: 'skip',
      })),
      { selector: 'a', options: { ignoreHref: true } },
      ...['h1', 'h2', 'h3', 'h4', 'h5', 'h6'].map((selector) => ({ selector, options: { uppercase: false } })),
    ],
  });
}

function parse(contentType: string): { readonly type: string; readonly charset: string } {
  const [type = '', ...parameters] = contentType.split(';').map((part) => part.trim().toLowerCase());
  const charset = parameters.find((parameter) => parameter.startsWith('charset='))?.slice('charset='.length) ?? 'utf-8';
  return { type, charset: charset.replaceAll('"', '') };
}

function decoderFor(charset: string): TextDecoder {
  try {
    return new TextDecoder(charset);
  } catch {
    return new TextDecoder();
  }
}
