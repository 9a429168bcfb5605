import { realpathSync } from 'node:fs';
import { basename, join, relative, resolve } from 'node:path';
import { operatorSentenceOf, UserError } from '@cinnabar/sdk';
import { watch } from 'chokidar';
import { loadConfig } from '../config/load.js';
import { placeForAuthor, rootMessage } from '../plugins/author-error.js';
import { compilerOf } from '../plugins/check/source-checks.js';
import { KEYWORD } from '../plugins/discovery.js';
import { projectKind } from './check.js';
import { type OpenConsole, runConsole } from './console/run.js';
import { type Arguments, prepare, type StartOptions } from './discord.js';

/** An editor may write several files, or one file in several steps. */
const QUIET_MS = 120;
/** Files that belong to a plugin's bundle, or affect it. */
const SOURCE = /\.(?:[cm]?[jt]sx?|json)$/;
const NOT_WATCHED = new Set(['node_modules', 'dist', 'test', '.git', '.cinnabar', '.vscode', 'data', 'logs']);

/**
 * `cinnabar dev [FOLDER]`: runs the plugin, or the bot's project with its plugins, on the local Discord with the console, and reloads a plugin when its files
 * are saved. When a version does not build or start, the previous one keeps running. The data are in `.cinnabar` of the folder.
 * @returns the exit code of the console
 * @throws UserError when the folder is neither a plugin's nor a bot's
 */
export async function runDev(
  operands: readonly string[],
  { beside }: Pick<Arguments, 'beside'>,
  process: NodeJS.Process,
  options: StartOptions,
): Promise<number> {
  const folder = realpathSync(resolve(process.cwd(), operands[0] ?? '.'));
  const kind = projectKind(folder);
  if (kind === undefined)
    throw new UserError(
      `${folder} is neither a plugin's folder nor a bot's: its package.json has neither the keyword ${KEYWORD} nor the dependency cinnabar. "cinnabar new NAME" makes one.`,
    );
  const isPlugin = kind === 'plugin';
  const { DISCORD_TOKEN: _, ...env } = process.env;
  const read = loadConfig(folder, { CINNABAR_DATA: join(folder, '.cinnabar', 'data'), ...env });
  const others = beside.map((one) => realpathSync(resolve(process.cwd(), one)));
  const own = isPlugin ? [folder] : [];
  const config = { ...read, pluginFolders: [...read.pluginFolders, ...own, ...others] };
  prepare(config, process.env);
  const watched = isPlugin ? [folder, ...others] : config.pluginFolders;
  let print = (line: string): void => {
    process.stderr.write(`${line}\n`);
  };
  return runConsole(config, process, options, {
    onOpen(opened) {
      print = opened.print;
      return develop({ ...opened, folder, watched });
    },
    onTrouble: ({ component, message, fields: { plugin = component, error } }) => {
      const because = rootMessage(error);
      const place = placeForAuthor(error, folder);
      const detail = because === undefined || message.includes(because) ? message : `${message}: ${because}`;
      print([`✗ ${plugin}: ${detail}`, ...(place === undefined ? [] : [place])].join('\n'));
    },
  });
}

interface Development extends OpenConsole {
  readonly folder: string;
  /** Folders with plugins, or that of one. */
  readonly watched: readonly string[];
}

/** The line that is printed once the console is open. */
export const watchingLine = (names: readonly string[]) => `Watching ${names.join(', ')}: what you save is reloaded.`;

/** The line that is printed when a version has replaced another. @param changes as returned by `Plugins.reload` */
export function reloadedLine(id: string, tookMs: number, changes: readonly string[]): string {
  const what = changes.length === 0 ? '' : `: ${changes.join(', ')}`;
  return `↻ ${id} reloaded in ${Math.round(tookMs)} ms${what}`;
}

/** @returns a function that ends the development */
async function develop({ plugins, print, settled, folder, watched }: Development): Promise<() => Promise<void>> {
  const types = createTypeCheck(folder, print);
  const files = watch([...watched], {
    ignoreInitial: true,
    ignored: (path) => NOT_WATCHED.has(basename(path)) && path !== folder,
  });
  const own = () =>
    plugins()
      .list()
      // Plugins that come with the host are inside a plugin's project, too, in its node_modules.
      .filter(({ path, source }) => source !== 'bundled' && watched.some((root) => isWithin(path, root)));
  const report = (id: string, path: string, error: unknown) => {
    const place = placeForAuthor(error, path);
    const oldRuns = plugins()
      .list()
      .some((one) => one.id === id && one.state === 'running');
    print(
      [`✗ ${operatorSentenceOf(error) ?? `${id}: ${String(error)}`}`, ...(place === undefined ? [] : [place])].join(
        '\n',
      ),
    );
    if (oldRuns) print('  The version before goes on. Save again once it is mended.');
  };

  const reload = async (changed: ReadonlySet<string>) => {
    for (const { id, path, state } of own()) {
      if (![...changed].some((file) => isWithin(file, path))) continue;
      const startedAt = performance.now();
      try {
        const { changes } =
          state === 'stopped' ? { changes: [], ...(await plugins().load(id)) } : await plugins().reload(id);
        await settled();
        print(reloadedLine(id, performance.now() - startedAt, changes));
      } catch (error) {
        report(id, path, error);
      }
    }
    types.run();
  };

  const changed = new Set<string>();
  let timer: NodeJS.Timeout | undefined;
  let inFlight: Promise<void> = Promise.resolve();
  files.on('all', (_, path) => {
    if (!SOURCE.test(path)) return;
    changed.add(path);
    clearTimeout(timer);
    timer = setTimeout(() => {
      const batch = new Set(changed);
      changed.clear();
      inFlight = inFlight.then(() => reload(batch));
    }, QUIET_MS);
  });
  await new Promise<void>((done) => files.once('ready', () => done()));

  for (const { id, path, problem } of own()) {
    if (problem !== undefined) report(id, path, new Error(problem));
  }
  const names = own().map(({ id }) => id);
  print(
    names.length === 0
      ? `No plugin in ${watched.map((root) => relative(folder, root) || '.').join(', ')} yet: "cinnabar new NAME" makes one.`
      : watchingLine(names),
  );
  types.run();
  return async () => {
    clearTimeout(timer);
    await files.close();
    await inFlight;
    types.stop();
  };
}

const isWithin = (path: string, folder: string) => !relative(folder, path).startsWith('..');

/** The project's own compiler, which runs beside the bot: its errors are printed when they change. */
function createTypeCheck(folder: string, print: (line: string) => void) {
  const compiler = compilerOf(folder);
  let current = new AbortController();
  let before = '';
  const check = async ({ signal }: AbortController) => {
    if (typeof compiler === 'string') return;
    try {
      const complaints = (await compiler.check(signal))?.trim();
      if (complaints === undefined || complaints === before) return;
      print(complaints === '' ? '✓ types: nothing is wrong any more' : `✗ types:\n${complaints}`);
      before = complaints;
    } catch (error) {
      print(`types: they could not be checked: ${operatorSentenceOf(error) ?? String(error)}`);
    }
  };
  const stop = () => current.abort();
  return {
    run() {
      stop();
      current = new AbortController();
      void check(current);
    },
    stop,
  };
}
