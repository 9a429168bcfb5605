import { existsSync, readFileSync } from 'node:fs';
import { posix } from 'node:path';
import type { Declared } from './declared.js';
import type { Page, Place, Problem } from './markdown.js';
import { at } from './pages.js';
import { wrongCommand } from './shell.js';

/** Placeholders: `<member>`, `[reason]`, `NAME`, `…`. */
const PLACEHOLDER = /^[<[…]|^[A-Z_]+$|^…$/u;
const AUTHORS = /^(?:docs\/authors|sdk|core|examples)\//;
/** Pages for operators; other pages may mention variables of tests and of other programs. */
const READERS = /^(?:docs\/|README|SECURITY)/;
/** Pages about this repository; other pages mention the folders of their readers. */
const SOURCE = /^(?:CONTRIBUTING|SECURITY|README|core\/README|sdk\/)/;
const WORD = /^[a-z0-9][a-z0-9-]*$/;

/**
 * Code spans in a page's text that name something unknown: commands of the bot and of the command line, settings, configuration keys and variables.
 * @param own `ownNames(page)`
 */
export function wrongNames(page: Page, declared: Declared, own: Own): readonly Problem[] {
  return page.spans.flatMap((span) =>
    problemsOf(page, span, declared, own).map((text) => ({ file: page.file, line: span.line, text })),
  );
}

function problemsOf(page: Page, { text }: Place, declared: Declared, own: Own): readonly string[] {
  // Without arguments, `/metrics` is a path.
  if (/^!\p{L}|^\/[a-z][a-z0-9-]* \S/u.test(text)) return ofCommand(text.slice(1), declared, own);
  if (/^(?:npx )?cinnabar(?: |$)/.test(text) && text !== 'cinnabar') return wrongCommand(page, text, declared);
  if (
    /^(?:core|sdk|plugins|test|config)\/[\w./-]+$/.test(text) &&
    SOURCE.test(page.file) &&
    !/(?:^|\/)dist\//.test(`${text}/`)
  )
    return existsSync(at(text)) ? [] : [`There is no file ${text}: mend its path.`];
  if (/^npm (?:run |start|test)/.test(text)) return wrongCommand(page, text.replace(/\[(.*?) ?\]/g, '$1'), declared);
  const variable = /^((?:CINNABAR|DISCORD|OPENAI|ANTHROPIC|LETTA)_[A-Z0-9_]+)(?:=.*)?$/.exec(text)?.[1];
  if (
    variable !== undefined &&
    READERS.test(page.file) &&
    !declared.variables.has(variable) &&
    !declared.errors.has(variable)
  )
    return [`There is no variable ${variable}: docs/reference/environment.md has those that there are.`];
  const key = /^(host(?:\.[A-Za-z]+)+)(?::.*)?$/.exec(text)?.[1];
  // Authors use another `host`, that of `createTestHost`.
  if (key !== undefined && !AUTHORS.test(page.file) && !declared.configuration.has(key))
    return [`There is no key ${key} in the configuration: docs/reference/configuration.md has those that there are.`];
  return [];
}

function ofCommand(typed: string, declared: Declared, own: Own): readonly string[] {
  const { commands } = declared;
  const words = typed.split(/\s+/);
  const literal = words.slice(0, words.findIndex((word) => !WORD.test(word)) >>> 0);
  const [first = ''] = words;
  if (own.commands.has(first)) return [];
  // Finds the longest prefix that is a command or the beginning of one.
  for (let length = Math.min(literal.length, 4); length > 0; length -= 1) {
    const name = literal.slice(0, length).join(' ');
    const usage = commands.get(name);
    if (usage !== undefined) return ofArguments(name, usage, words.slice(length), declared, own);
    const below = [...commands.keys()].filter((each) => each.startsWith(`${name} `));
    if (below.length === 0) continue;
    const next = words[length];
    return next === undefined || PLACEHOLDER.test(next)
      ? []
      : [`There is no command ${name} ${next}; there are ${below.join(', ')}.`];
  }
  return [`There is no command ${first}: docs/reference/commands.md has those that there are.`];
}

function ofArguments(
  name: string,
  usage: string,
  given: readonly string[],
  declared: Declared,
  own: Own,
): readonly string[] {
  if (usage === '' && given.length > 0 && !given.every((word) => PLACEHOLDER.test(word)))
    return [`${name} takes nothing: leave “${given.join(' ')}” out.`];
  if (name === 'set' || name === 'unset' || name === 'settings') return ofSetting(given, declared, own);
  return [];
}

function ofSetting(given: readonly string[], { settings }: Declared, own: Own): readonly string[] {
  // `!set reset <plugin>` is `!unset <plugin>`.
  const [plugin, key] = given[0] === 'reset' ? given.slice(1) : given;
  if (plugin === undefined || PLACEHOLDER.test(plugin) || own.plugins.has(plugin)) return [];
  const keys = settings.get(plugin);
  if (keys === undefined) return [`No plugin ${plugin} has settings; there are ${[...settings.keys()].join(', ')}.`];
  if (key === undefined || PLACEHOLDER.test(key) || keys.has(key)) return [];
  return [`${plugin} has no setting ${key}: it has ${[...keys].join(', ')}.`];
}

/** Names on a page that are not part of the bot. */
export interface Own {
  /** First words of commands. */
  readonly commands: ReadonlySet<string>;
  readonly plugins: ReadonlySet<string>;
}

/** Names that are declared in the blocks of a page, or in the plugin beside it, and commands that members create with commands. */
export function ownNames(page: Page): Own {
  const source = at(posix.join(posix.dirname(page.file), 'src/index.ts'));
  const code = [
    ...page.blocks.filter(({ language }) => language === 'ts').map(({ text }) => text),
    ...(existsSync(source) ? [readFileSync(source, 'utf8')] : []),
  ];
  const typed = [...page.spans, ...page.blocks].map(({ text }) => text);
  const find = (texts: readonly string[], pattern: RegExp) =>
    texts.flatMap((text) => [...text.matchAll(pattern)].map(([, name = '']) => name));
  return {
    commands: new Set([
      ...find(code, /\bname: '([a-z0-9-]+)'/g),
      ...find(typed, /(?:customcom create|alias add) ([a-z0-9-]+)/g),
    ]),
    plugins: new Set(find(code, /\bmanifest: \{\s*id: '([a-z0-9-]+)'/g)),
  };
}
