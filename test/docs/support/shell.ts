import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { posix } from 'node:path';
import { z } from '@cinnabar/sdk';
import { asksFor } from '../../support/cinnabar.js';
import type { Declared } from './declared.js';
import type { Page, Problem } from './markdown.js';
import { at } from './pages.js';

/** Programs that a page may use without instructions to install them. */
const PROGRAMS = new Set(
  `base64 cd chmod chown claude cp curl docker echo git install journalctl ls mkdir mv node npm npx ollama openssl printf psql
   rm sudo systemctl systemd-analyze tar touch true useradd`.split(/\s+/),
);
/** npm commands that pages use. */
const NPM = new Set([
  'ci',
  'install',
  'pack',
  'prune',
  'publish',
  'view',
  'outdated',
  'login',
  'init',
  'run',
  'version',
]);
const DOCKER = new Set(['build', 'compose', 'exec', 'logs', 'ps', 'run', 'stop', 'volume']);

/** The project whose `package.json` a page uses. */
type Project = 'clone' | 'bot' | 'plugin';
const PACKAGES: Readonly<Record<Project, string>> = {
  clone: 'package.json',
  bot: 'core/templates/bot/package.json',
  plugin: 'core/templates/plugin/package.json',
};

/** The current folder, which a command may change. */
interface Folder {
  projects: readonly Project[];
  /** Projects made by `cinnabar new`, by folder name. */
  readonly made: Map<string, Project>;
}

/** Unknown commands in the blocks `sh` of a page. */
export function wrongCommands(page: Page, declared: Declared): readonly Problem[] {
  const folder: Folder = { projects: projectsOf(page), made: new Map() };
  return page.blocks
    .filter(({ language }) => language === 'sh')
    .flatMap((block) =>
      commandsIn(block.text).flatMap(({ line, words }) =>
        problemsOf(words, declared, folder).map((text) => ({ file: page.file, line: block.line + line, text })),
      ),
    );
}

/** The errors in one command in a text: `npx cinnabar new NAME`. */
export function wrongCommand(page: Page, command: string, declared: Declared): readonly string[] {
  const folder: Folder = { projects: projectsOf(page), made: new Map() };
  return commandsIn(command).flatMap(({ words }) => problemsOf(words, declared, folder));
}

function projectsOf({ file }: Page): readonly Project[] {
  if (/^(?:docs\/authors|core\/templates\/plugin|examples)\//.test(file)) return ['plugin'];
  if (file.startsWith('core/templates/bot/')) return ['bot'];
  // A bot can be run from a clone or from npm.
  if (file.startsWith('docs/')) return ['clone', 'bot'];
  return ['clone'];
}

/** The commands of a block, with the line in which each begins, counted from 1. */
function commandsIn(text: string): readonly { readonly line: number; readonly words: readonly string[] }[] {
  const found: { line: number; words: readonly string[] }[] = [];
  let before = '';
  text.split('\n').forEach((part, index) => {
    const line = before + part;
    before = line.endsWith('\\') ? `${line.slice(0, -1)} ` : '';
    if (before !== '') return;
    for (const command of splitLine(line)) found.push({ line: index + 1, words: command });
  });
  return found;
}

const OPERATORS = new Set(['&&', '||', '|', ';', '&']);

/** The words of each command of a line, without comments and redirections. The content of `$(…)` is a command, too. */
function splitLine(line: string): readonly (readonly string[])[] {
  const inner = [...line.matchAll(/\$\(([^()]*)\)/g)].flatMap(([, command = '']) => splitLine(command));
  const words =
    line
      .replace(/\$\([^()]*\)/g, '…')
      .match(
        /#(?<=(?:^|\s)#).*|"(?:[^"\\]|\\.)*"|'[^']*'|&&|\|\||[|;&]|(?:[^\s"'|;&\\]|\\.|"(?:[^"\\]|\\.)*"|'[^']*')+/g,
      ) ?? [];
  const commands: string[][] = [[]];
  for (const word of words) {
    if (word.startsWith('#')) break;
    if (OPERATORS.has(word)) commands.push([]);
    else commands.at(-1)?.push(word.replace(/^(["'])([\s\S]*)\1$/, '$2'));
  }
  return [...commands.filter((command) => command.length > 0), ...inner];
}

function problemsOf(words: readonly string[], declared: Declared, folder: Folder): readonly string[] {
  const begin = words.findIndex((word) => !/^[A-Z][A-Z0-9_]*=/.test(word) && word !== 'sudo' && word !== '$');
  const [program = '', ...args] = words.slice(begin === -1 ? words.length : begin);
  const unknown = words.slice(0, Math.max(begin, 0)).flatMap((word) => unknownVariable(word, declared));
  return [...unknown, ...ofProgram(program, args, declared, folder)];
}

function unknownVariable(word: string, { variables }: Declared): readonly string[] {
  const name = /^((?:CINNABAR|DISCORD|OPENAI|ANTHROPIC|LETTA)_[A-Z0-9_]+)=/.exec(word)?.[1];
  return name === undefined || variables.has(name) || name === 'LETTA_RESTART'
    ? []
    : [`There is no variable ${name}: docs/reference/environment.md has those that there are.`];
}

function ofProgram(program: string, args: readonly string[], declared: Declared, folder: Folder): readonly string[] {
  if (program === '') return [];
  if (posix.basename(program) === 'cinnabar') return ofCinnabar(args, declared, folder);
  if (program === 'npx') return ofProgram(args[0] ?? '', args.slice(1), declared, folder);
  if (program === 'npm') return ofNpm(args, folder);
  if (program === 'node') return ofNode(args);
  if (program === 'docker' && !DOCKER.has(args[0] ?? ''))
    return [`docker ${args[0]} is not among what pages may ask for: mend it, or add it to test/docs/support/shell.ts.`];
  if (program === 'cd') enter(args[0] ?? '', folder);
  return PROGRAMS.has(program)
    ? []
    : [
        `${program} is no command that pages may ask for: mend it, or add it to PROGRAMS in test/docs/support/shell.ts.`,
      ];
}

function enter(path: string, folder: Folder): void {
  const name = path.split('/').filter(Boolean).at(-1) ?? '';
  const made = folder.made.get(name);
  if (made !== undefined) folder.projects = [made];
  else if (/cinnabar$/.test(name)) folder.projects = ['clone'];
}

function ofCinnabar(args: readonly string[], declared: Declared, folder: Folder): readonly string[] {
  // Placeholders and optional parts are ignored.
  const typed = args.map((arg) => arg.replace(/^\[|\]$/g, '')).filter((arg) => arg !== '…' && arg !== '');
  try {
    const { command, operands, isProject } = asksFor(typed);
    const options = declared.commandLine.get(command);
    if (options === undefined)
      return [`There is no command cinnabar ${command}; there are ${[...declared.commandLine.keys()].join(', ')}.`];
    const foreign = typed.find((arg) => arg.startsWith('--') && arg !== '--bot' && !options.has(arg));
    if (foreign !== undefined && command !== 'help' && command !== 'version')
      return [`cinnabar ${command} does not take ${foreign}: see cinnabar help.`];
    if (command === 'plugin') {
      const wrong = (operands[0] ?? '').split('|').find((word) => word !== '' && !declared.pluginCommands.has(word));
      if (wrong !== undefined)
        return [`There is no command cinnabar plugin ${wrong}; there are ${[...declared.pluginCommands].join(', ')}.`];
    }
    if (command === 'new' && operands[0] !== undefined)
      folder.made.set(posix.basename(operands[0]), isProject ? 'bot' : 'plugin');
    return [];
  } catch (error) {
    return [`cinnabar ${args.join(' ')} cannot be read: ${error instanceof Error ? error.message : String(error)}`];
  }
}

const packageSchema = z.object({ scripts: z.record(z.string(), z.string()).default({}) });
const scriptsOf = (project: Project) =>
  packageSchema.parse(JSON.parse(readFileSync(at(PACKAGES[project]), 'utf8'))).scripts;

function ofNpm(args: readonly string[], { projects }: Folder): readonly string[] {
  const [first = '', ...rest] = args.filter((arg) => !arg.startsWith('-') || arg === '--');
  const isRun = first === 'run';
  const script = isRun ? (rest[0] ?? '') : first;
  if (!isRun && NPM.has(first)) return [];
  if (!projects.some((project) => script in scriptsOf(project))) {
    const known = projects.flatMap((project) => Object.keys(scriptsOf(project)));
    return [
      `There is no script ${script} in ${projects.map((project) => PACKAGES[project]).join(' or ')}: it has ${[...new Set(known)].join(', ')}.`,
    ];
  }
  const named = args[args.indexOf('--') + 1];
  if ((script === 'bench' || script === 'campaign') && args.includes('--') && named !== undefined)
    return unknownRun(script, named);
  return [];
}

/** Long runs: the folder contains one module for each. */
function unknownRun(kind: 'bench' | 'campaign', name: string): readonly string[] {
  const known = readdirSync(at(`test/${kind}`))
    .filter((file) => file.endsWith('.ts') && !file.endsWith('.test.ts'))
    .map((file) => file.slice(0, -'.ts'.length));
  return known.includes(name) || name === 'NAME' ? [] : [`There is no ${kind} ${name}; there are ${known.join(', ')}.`];
}

function ofNode(args: readonly string[]): readonly string[] {
  const file = args.find((arg) => !arg.startsWith('-'));
  if (file === undefined || args.some((arg) => /^(?:-e|--eval|-p|--version)$/.test(arg))) return [];
  const source = file
    .replace(/^(?:\/opt\/[\w-]+\/)?(?:node_modules\/@cinnabar\/)?/, '')
    .replace(/\/dist\//, '/src/')
    .replace(/^(.*\/src\/.*)\.js$/, '$1.ts');
  return existsSync(at(source)) ? [] : [`There is no file ${file} to run: mend its path.`];
}
