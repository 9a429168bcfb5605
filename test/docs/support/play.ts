import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Console, devLines, openConsole } from '../../core/cli/console-harness.js';
import type { Block, Page, Problem } from './markdown.js';
import { type Module, modulesOf, writeModules } from './modules.js';
import { at, pluginsBeside } from './pages.js';
import { differenceOf, type Line, stepsOf } from './transcript.js';

/** The folder for the plugins of a page. */
const PLUGINS = 'plugins';

export const isPlayed = (page: Page) =>
  page.blocks.some(({ language }) => language === 'console') || modulesOf(page).some(({ kind }) => kind === 'plugin');

/**
 * Plays a page from top to bottom on one new bot: the plugins of its blocks are loaded, or reloaded, at their position; the lines of its transcripts are typed,
 * and the output is compared with the page. A line of `…` matches any lines.
 */
export async function playPage(page: Page): Promise<readonly Problem[]> {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'cinnabar-page-')));
  try {
    const beside = pluginsBeside(page);
    mkdirSync(join(folder, PLUGINS));
    await using console = await openConsole(folder, [
      join(folder, PLUGINS),
      ...(beside === undefined ? [] : [at(beside)]),
    ]);
    const plugins = createPlugins(page, folder, console);
    const problems: Problem[] = [];
    for (const block of page.blocks) {
      keepFile(block, folder);
      const found =
        block.language === 'ts' ? await plugins.show(block) : await playBlock(block, { folder, console, plugins });
      problems.push(...found.map(({ line, text }) => ({ file: page.file, line, text })));
    }
    return problems;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

interface PagePlugins {
  /** Loads the plugin of a block, or the next version of it. */
  show(block: Block): Promise<readonly Line[]>;
  /** Changes the plugin according to the text before a block, and reloads it. @returns the output of `cinnabar dev` */
  edit(block: Block): Promise<readonly string[]>;
  /** Plugin ids. */
  readonly shown: readonly string[];
}

/** The text before a transcript that describes a change of the plugin above. */
const CHANGE = /[Cc]hange `([^`]+)` (?:in)?to `([^`]+)`/;

function createPlugins(page: Page, folder: string, { host, settled }: Console): PagePlugins {
  const modules = modulesOf(page);
  const shown = new Map<string, readonly Module[]>();
  const put = async (id: string, files: readonly Module[]): Promise<readonly string[]> => {
    const isKnown = shown.has(id);
    shown.delete(id);
    shown.set(id, files);
    writeModules(
      folder,
      files.map((file) => ({ ...file, project: join(PLUGINS, id) })),
    );
    if (!isKnown) await host.plugins.load(id);
    const { changes } = isKnown ? await host.plugins.reload(id) : { changes: [] };
    await settled();
    return changes;
  };
  return {
    get shown() {
      return [...shown.keys()];
    },
    async show({ line }) {
      const module = modules.find((one) => one.line === line && one.kind === 'plugin');
      if (module === undefined) return [];
      const id = /\bid: '([a-z0-9-]+)'/.exec(module.text)?.[1] ?? 'plugin';
      const files = modules.filter(
        ({ project, kind }) => project === module.project && (kind === 'plugin' || kind === 'module'),
      );
      try {
        await put(id, files);
        return [];
      } catch (error) {
        return [{ line, text: `The plugin does not start: ${error instanceof Error ? error.message : String(error)}` }];
      }
    },
    async edit({ before }) {
      const [, from, to = ''] = CHANGE.exec(before) ?? [];
      const [id, files] = [...shown].at(-1) ?? [];
      if (from === undefined || id === undefined || files === undefined) return [];
      const startedAt = performance.now();
      const changes = await put(
        id,
        files.map((file) => ({ ...file, text: file.text.replace(from, to) })),
      );
      return [devLines.reloaded(id, performance.now() - startedAt, changes)];
    },
  };
}

interface Play {
  /** The folder of the files that the page shows. */
  readonly folder: string;
  readonly console: Console;
  readonly plugins: PagePlugins;
}

/** A block that is a file of the reader, by its first line (`# server.yaml`), can be attached in later transcripts. */
function keepFile({ language, text }: Block, folder: string): void {
  const name = /^# ([\w-]+\.yaml)$/m.exec(text.split('\n')[0] ?? '')?.[1];
  if (language === 'yaml' && name !== undefined) writeFileSync(join(folder, name), `${text}\n`);
}

async function playBlock(block: Block, { folder, console, plugins }: Play): Promise<readonly Line[]> {
  if (block.language === 'sh' && /^(?:npm run dev|npx cinnabar dev)\b/m.test(block.text))
    console.note(devLines.watching(plugins.shown));
  if (block.language !== 'console') return [];
  for (const line of await plugins.edit(block)) console.note(line);
  const problems: Line[] = [];
  const steps = stepsOf(block);
  if (steps.every(({ typed }) => typed === undefined)) {
    const text =
      'Nothing is typed here: a line that is typed begins with `!`, `/`, `@name: ` or `> `. What something else prints is `text`.';
    return [{ line: block.line, text }];
  }
  for (const { line, typed, printed } of steps) {
    const wrong = typed && (await console.type(typed.replace(ATTACHED, `$1${folder}/$2`)));
    if (wrong) console.note(wrong);
    const really = console.take();
    const difference = differenceOf(printed, really);
    if (difference === undefined) continue;
    const shown = really.length === 0 ? ['(nothing)'] : really;
    problems.push({
      line: line + difference.at,
      text: `${difference.text} What is printed${typed === undefined ? '' : ` after “${typed}”`}:\n${shown.map((each) => `    ${each}`).join('\n')}`,
    });
  }
  return problems;
}

const ATTACHED = /^((?:@[^:]+: )?attach )([\w-]+\.yaml)\b/;
