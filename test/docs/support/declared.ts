import { readFileSync } from 'node:fs';
import { ERRORS } from '@cinnabar/sdk';
import { cinnabar } from '../../support/cinnabar.js';
import { at } from './pages.js';

/**
 * The names that a page may use, read from the reference (which `test/core/cli/reference.test.ts` compares with the declarations) and from the help of the
 * command line.
 */
export interface Declared {
  /** Full names and aliases of commands, with their arguments: `plugin info` → `<plugin>`. */
  readonly commands: ReadonlyMap<string, string>;
  /** Names of settings by plugin; plugins without any are left out. */
  readonly settings: ReadonlyMap<string, ReadonlySet<string>>;
  readonly plugins: ReadonlySet<string>;
  readonly variables: ReadonlySet<string>;
  /** Codes of errors. */
  readonly errors: ReadonlySet<string>;
  /** `host.plugins.registries` */
  readonly configuration: ReadonlySet<string>;
  /** Commands of the command line, with the options in their help. */
  readonly commandLine: ReadonlyMap<string, ReadonlySet<string>>;
  /** The subcommands of `cinnabar plugin`. */
  readonly pluginCommands: ReadonlySet<string>;
}

const { out: help } = await cinnabar(['help'], { cwd: at('.') });
const read = (name: string) => readFileSync(at(`docs/reference/${name}.md`), 'utf8').split('\n');
const firstCells = (name: string) => read(name).flatMap((line) => /^\| `([^`]+)` \|/.exec(line)?.[1] ?? []);

export function readDeclared(): Declared {
  return {
    ...readCommands(),
    settings: readSettings(),
    variables: new Set(firstCells('environment')),
    errors: new Set(Object.keys(ERRORS)),
    configuration: new Set(firstCells('configuration')),
    ...readHelp(help),
  };
}

function readCommands(): Pick<Declared, 'commands' | 'plugins'> {
  const commands = new Map<string, string>();
  const plugins = new Set<string>();
  for (const line of read('commands')) {
    const plugin = /^## (.+)$/.exec(line)?.[1];
    if (plugin !== undefined) plugins.add(plugin);
    const [, typed, slash, rest = ''] = /^\| (?:`!([^`]+)`)? \| (?:`\/([^`]+)`)? \|(.*)$/.exec(line) ?? [];
    const [name = '', usage = ''] = split(typed ?? slash ?? '');
    if (name === '') continue;
    const aliases = /\(also (.+?)\) \|/.exec(rest)?.[1] ?? '';
    for (const each of [name, ...[...aliases.matchAll(/`([^`]+)`/g)].map(([, alias = '']) => alias)])
      commands.set(each, usage);
  }
  return { commands, plugins };
}

/** The name of a command, and its arguments. */
function split(typed: string): readonly string[] {
  const at = typed.search(/ [<[]/);
  return at === -1 ? [typed, ''] : [typed.slice(0, at), typed.slice(at + 1)];
}

function readSettings(): Declared['settings'] {
  const settings = new Map<string, Set<string>>();
  let keys = new Set<string>();
  for (const line of read('settings')) {
    const plugin = /^## (.+)$/.exec(line)?.[1];
    if (plugin !== undefined) {
      keys = new Set();
      settings.set(plugin, keys);
    }
    const key = /^\| `([^`]+)` \|/.exec(line)?.[1];
    if (key !== undefined) keys.add(key);
  }
  return settings;
}

/** `  cinnabar NAME …` begins the help of a command, which the following indented lines continue. */
function readHelp(help: string): Pick<Declared, 'commandLine' | 'pluginCommands'> {
  const entries = [...help.matchAll(/^ {2}cinnabar ([a-z|]+)(.*(?:\n {4}.*)*)/gm)];
  const names = [...new Set(entries.flatMap(([, name = '']) => name.split('|')))];
  const optionsOf = (name: string) =>
    entries
      .filter(([, each = '']) => each.split('|').includes(name))
      .flatMap(([text]) => [...text.matchAll(/--[a-z-]+/g)].map(([option]) => option));
  const pluginCommands = entries
    .filter(([, name]) => name === 'plugin')
    // Two spaces separate the command from its description.
    .flatMap(([, , usage = '']) => usage.split(/\n| {3,}/)[0]?.split('|') ?? [])
    .flatMap((usage) => /^\s*([a-z]+)/.exec(usage)?.[1] ?? []);
  return {
    commandLine: new Map(['help', ...names].map((name) => [name, new Set(optionsOf(name))])),
    pluginCommands: new Set(pluginCommands),
  };
}
