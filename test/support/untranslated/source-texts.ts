import { readdirSync, readFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { IntlMessageFormat } from 'intl-messageformat';

const ROOT = fileURLToPath(new URL('../../../../', import.meta.url));

/** A text in the code, or a part of it between values. */
export interface SourceText {
  readonly text: string;
  /** `plugins/party/src/recommend-gear.ts` */
  readonly file: string;
  /** See `EXEMPT`. */
  readonly isExempt: boolean;
}

const TEXT = /'((?:[^'\\\n]|\\.)*)'|"((?:[^"\\\n]|\\.)*)"|`((?:[^`\\]|\\.)*)`/g;

/** Files whose texts the bot does not send to Discord: texts of the terminal and of the local Discord, and names of commands. */
const SILENT = /^core\/src\/(?:cli\/|testing\/|plugins\/check\/|commands\/red-names\.ts$)/;

/** Files with English texts, each with the reason; messages that contain their texts are not checked. */
const EXEMPT: readonly (readonly [file: RegExp, because: string])[] = [
  [
    /^(?:core\/src\/storage\/driver|sdk\/src\/storage\/durable-files)\.ts$/,
    'notices to owners: they are written in every language when they arise',
  ],
  [/^plugins\/llm\/src\/(?:index|providers\/errors)\.ts$/, 'notices to owners, with the words of a provider'],
  [/^core\/src\/plugins\/lifecycle\/reload\.ts$/, 'it is kept as what ails a plugin, and in the log'],
  [/^plugins\/welcome\/src\/context\.ts$/, 'greetings are a setting of the server: its admins write them'],
];

const isExempt = (file: string) => EXEMPT.some(([pattern]) => pattern.test(file));

/** The texts in the code of host, SDK and bundled plugins that look like texts for people. */
export function sourceTexts(): readonly SourceText[] {
  return folders().flatMap((folder) =>
    readdirSync(folder, { recursive: true, withFileTypes: true }).flatMap((entry): readonly SourceText[] => {
      if (!entry.isFile() || !entry.name.endsWith('.ts')) return [];
      const path = join(entry.parentPath, entry.name);
      const file = relative(ROOT, path);
      if (SILENT.test(file)) return [];
      const code = readFileSync(path, 'utf8')
        .replace(/^\s*(\/\/|\*|\/\*).*$/gm, '')
        // Examples of messages to the bot are not translated: the offline model understands only English.
        .replace(/\b(?:examples: |\w*EXAMPLES\b[^=]*= )\[[\s\S]*?\]/g, '');
      return [...code.matchAll(TEXT)].flatMap(([, single, double, template]) =>
        partsOf(single ?? double, template)
          .map((text) => unstyled(text).replace(/^[^\p{L}\p{N}]+|[^\p{L}\p{N}]+$/gu, ''))
          .filter(isForPeople)
          .map((text) => ({ text, file, isExempt: isExempt(file) })),
      );
    }),
  );
}

function partsOf(literal: string | undefined, template: string | undefined): readonly string[] {
  if (literal !== undefined) return textsOf(unescaped(literal));
  return (template ?? '').split(/\$\{[^{}]*\}/).map((part) => unescaped(part).trim());
}

/** The texts between the arguments of an ICU message; the whole text if it is none. */
export function textsOf(message: string): readonly string[] {
  if (!/[{}]/.test(message)) return [message.trim()];
  try {
    return [...textsIn(new IntlMessageFormat(message, 'en', undefined, { ignoreTag: true }).getAst())];
  } catch {
    return [message.trim()];
  }
}

type Elements = ReturnType<IntlMessageFormat['getAst']>;

function* textsIn(elements: Elements): Generator<string> {
  for (const element of elements) {
    if ('options' in element) for (const option of Object.values(element.options)) yield* textsIn(option.value);
    // 0 is text.
    else if (element.type === 0) yield element.value.trim();
  }
}

/** Text without bold, which headings have and the same texts on cards may not have. */
export const unstyled = (text: string): string => text.replaceAll('**', '');

/** Whether a text has at least two words, and is not code. */
function isForPeople(text: string): boolean {
  // Two or three words without a capital are names of commands, or parts of texts.
  if (/^\p{Ll}+(?: \p{Ll}+){1,2}$/u.test(text)) return false;
  return text.length >= 10 && /\p{L}{2,},? \p{L}+/u.test(text) && !/=>|\(\)|;\n|\/\w+\/|https?:/.test(text);
}

function folders(): readonly string[] {
  const plugins = readdirSync(join(ROOT, 'plugins')).map((name) => join(ROOT, 'plugins', name, 'src'));
  return [join(ROOT, 'core', 'src'), join(ROOT, 'sdk', 'src'), ...plugins];
}

function unescaped(literal: string): string {
  return literal.replace(/\\(n|u\{([0-9a-f]+)\}|.)/gi, (_, one: string, point: string | undefined) =>
    point !== undefined ? String.fromCodePoint(Number.parseInt(point, 16)) : one === 'n' ? '\n' : one,
  );
}

/** All messages of a language's catalogues. */
export function translatedMessages(locale: string): ReadonlySet<string> {
  return new Set(
    folders().flatMap((folder) => {
      // The SDK's texts are in the host's catalogue.
      if (folder === join(ROOT, 'sdk', 'src')) return [];
      const catalogue: unknown = JSON.parse(readFileSync(join(folder, '..', 'locales', `${locale}.json`), 'utf8'));
      return typeof catalogue === 'object' && catalogue !== null ? Object.keys(catalogue) : [];
    }),
  );
}
