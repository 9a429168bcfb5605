import { existsSync } from 'node:fs';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { z } from '@cinnabar/sdk';
import { expect } from 'chai';
import { IntlMessageFormat } from 'intl-messageformat';
import { type DeclaredTexts, declaredTexts } from '../../support/declared-texts.js';

const ROOT = fileURLToPath(new URL('../../../../', import.meta.url));

/** The folders with a package's texts, and its catalogues. The host translates the texts of the SDK. */
interface Package {
  readonly name: string;
  readonly sources: readonly string[];
  readonly locales: string;
  readonly declared: DeclaredTexts;
}

/** Pages in a browser, and other folders with texts that they show. */
const PAGES = [
  { sources: 'plugins/web/client/src', more: [] },
  { sources: 'sdk/local-client/client/src', more: ['sdk/local-discord/src/users-api'] },
];

const NOTHING: DeclaredTexts = { texts: new Set(), inMenus: new Set() };

async function packages(): Promise<readonly Package[]> {
  const plugins = (await readdir(join(ROOT, 'plugins'))).filter((name) =>
    existsSync(join(ROOT, 'plugins', name, 'src')),
  );
  const declared = await declaredTexts();
  return [
    { name: 'core', sources: ['core/src', 'sdk/src'], locales: 'core/locales', declared: NOTHING },
    ...plugins.map((name) => ({
      name: `plugins/${name}`,
      sources: [`plugins/${name}/src`],
      locales: `plugins/${name}/locales`,
      declared: declared.get(name) ?? NOTHING,
    })),
    ...PAGES.map(({ sources, more }) => ({
      name: sources,
      sources: [sources, ...more],
      locales: `${sources}/locales`,
      declared: NOTHING,
    })),
  ];
}

/** `t('…'`, with the text; no catalogue can contain any other first argument. */
const CALL = /(?<![\w.$])t\(\s*(?:'((?:[^'\\\n]|\\.)*)'|"((?:[^"\\\n]|\\.)*)"|(\S[^\n]{0,40}))/g;

/** Any text in the code: declared texts (the description of a command, a card's labels) are translated when they are shown. */
const LITERAL = /'((?:[^'\\\n]|\\.)*)'|"((?:[^"\\\n]|\\.)*)"/g;

/** Text of an attribute, between tags of one line, or on a separate line below a tag. */
const MARKUP =
  /(?:aria-label|title|placeholder|label|alt)=(?:"([^"]*)"|\{`([^`]*)`\})|<\/?[\w.]+[^<>]*(?<!=)>([^<>{}\n;=()|]+)(?=[<{])|(?<![=,(])>\n\s*(\p{L}[^<>{}\n;=()]*)(?=\n|<|\{)/gu;

interface Found {
  readonly messages: ReadonlySet<string>;
  readonly literals: ReadonlySet<string>;
  /** Calls whose text is not a literal. */
  readonly hidden: readonly string[];
}

async function textsIn(folders: readonly string[]): Promise<Found> {
  const messages = new Set<string>();
  const literals = new Set<string>();
  const hidden: string[] = [];
  for await (const { file, code } of codeIn(folders)) {
    for (const [, single, double] of code.matchAll(LITERAL)) literals.add(unescaped(single ?? double ?? ''));
    if (!/\bt\b[^;]*from '/.test(code)) continue;
    for (const [, single, double, other] of code.matchAll(CALL)) {
      const literal = single ?? double;
      if (literal === undefined) hidden.push(`${file}: t(${other}`);
      else messages.add(unescaped(literal));
    }
  }
  return { messages, literals, hidden };
}

/** The files below the folders, without their comments. */
async function* codeIn(folders: readonly string[]) {
  for (const folder of folders) {
    for (const entry of await readdir(join(ROOT, folder), { recursive: true, withFileTypes: true })) {
      if (!entry.isFile() || !/\.tsx?$/.test(entry.name)) continue;
      const file = join(entry.parentPath, entry.name);
      yield { file, code: (await readFile(file, 'utf8')).replace(/^\s*(\/\/|\*|\/\*).*$/gm, '') };
    }
  }
}

/** The value of a string literal. */
function unescaped(literal: string): string {
  return literal.replace(/\\(n|u\{([0-9a-f]+)\}|.)/gi, (_, one: string, point: string | undefined) =>
    point !== undefined ? String.fromCodePoint(Number.parseInt(point, 16)) : one === 'n' ? '\n' : one,
  );
}

async function catalogue(file: string): Promise<Readonly<Record<string, string>>> {
  return z.record(z.string(), z.string()).parse(JSON.parse(await readFile(file, 'utf8')));
}

type Elements = ReturnType<IntlMessageFormat['getAst']>;

/** The names of a message's arguments. @throws for invalid ICU messages */
function argumentsOf(message: string): readonly string[] {
  const names = new Set<string>();
  const walk = (elements: Elements) => {
    for (const element of elements) {
      if ('options' in element) for (const option of Object.values(element.options)) walk(option.value);
      // 0 is text, 7 the `#` of a plural.
      if (element.type !== 0 && element.type !== 7 && 'value' in element) names.add(element.value);
    }
  };
  walk(new IntlMessageFormat(message, 'en', undefined, { ignoreTag: true }).getAst());
  return [...names].sort();
}

const bracesIn = (text: string): readonly string[] => [...text.matchAll(/\{[^{}]*\}/g)].map(([part]) => part).sort();

describe('catalogues', () => {
  let all: readonly Package[];
  before(async () => {
    all = await packages();
  });

  it('are complete and have nothing that the code does not say', async () => {
    for (const { name, sources, locales, declared } of all) {
      const { messages, literals, hidden } = await textsIn(sources);
      expect(hidden, 'the text of `t` is written where it is called').to.deep.equal([]);
      if (!existsSync(join(ROOT, locales))) continue;
      for (const file of await readdir(join(ROOT, locales))) {
        const translations = await catalogue(join(ROOT, locales, file));
        const missing = Object.fromEntries(
          [...messages, ...declared.texts].filter((one) => !Object.hasOwn(translations, one)).map((one) => [one, '']),
        );
        expect(missing, `${name}/locales/${file} lacks:\n${JSON.stringify(missing, null, 2)}`).to.deep.equal({});
        const stale = Object.keys(translations).filter(
          (one) => !messages.has(one) && !literals.has(one) && !declared.texts.has(one),
        );
        expect(stale, `${name}/locales/${file} has texts that the code does not say`).to.deep.equal([]);
      }
    }
  });

  it('take the same arguments as the English texts, in ICU syntax', async () => {
    for (const { locales, sources, declared } of all) {
      if (!existsSync(join(ROOT, locales))) continue;
      const { messages } = await textsIn(sources);
      for (const file of await readdir(join(ROOT, locales))) {
        for (const [message, translation] of Object.entries(await catalogue(join(ROOT, locales, file)))) {
          // Declared texts are not parsed as ICU messages.
          const isPlain = declared.texts.has(message) && !messages.has(message);
          const named = isPlain ? bracesIn : argumentsOf;
          expect(named(translation), translation).to.deep.equal(named(message));
        }
      }
    }
  });

  it('say the same in the same words, whichever package says it: the host keeps one translation of a text', async () => {
    const seen = new Map<string, string>();
    for (const { name, locales } of all) {
      if (!existsSync(join(ROOT, locales))) continue;
      for (const file of await readdir(join(ROOT, locales))) {
        for (const [message, translation] of Object.entries(await catalogue(join(ROOT, locales, file)))) {
          const key = `${file} ${message}`;
          expect(translation, `${name}: ${message}`).to.equal(seen.get(key) ?? translation);
          seen.set(key, translation);
        }
      }
    }
  });

  it('have every word that stands in the markup of a page', async () => {
    for (const { sources } of PAGES) {
      const bare: string[] = [];
      for await (const { file, code } of codeIn([sources])) {
        if (!file.endsWith('.tsx')) continue;
        for (const [, attribute, template, text, line] of code.matchAll(MARKUP)) {
          const words = attribute ?? template?.replace(/\$\{[^}]*\}/g, '') ?? text ?? line ?? '';
          // `!help` is equal in every language.
          if (/\p{L}{2}/u.test(words) && !words.startsWith('!')) bare.push(`${file}: ${words.trim()}`);
        }
      }
      expect(bare, 'words in the markup go through `t`').to.deep.equal([]);
    }
  });

  it('fit where Discord shows them', async () => {
    for (const { name, locales, declared } of all) {
      if (!existsSync(join(ROOT, locales))) continue;
      for (const file of await readdir(join(ROOT, locales))) {
        const translations = await catalogue(join(ROOT, locales, file));
        const tooLong = [...declared.inMenus].filter((text) => (translations[text]?.length ?? 0) > 100);
        expect(tooLong, `${name}/locales/${file} has descriptions of over 100 characters`).to.deep.equal([]);
      }
    }
  });
});
