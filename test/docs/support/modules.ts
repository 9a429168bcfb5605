import { execFile } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join, relative, sep } from 'node:path';
import * as sdk from '@cinnabar/sdk';
import type { Block, Page, Problem } from './markdown.js';
import { at } from './pages.js';

/** The kind of a TypeScript block: a plugin's entry, a test, an incomplete part of a module, or another module. */
export type Kind = 'plugin' | 'test' | 'fragment' | 'module';

/** A block as a file of an author's project. */
export interface Module {
  readonly page: string;
  /** The line of the fence. */
  readonly line: number;
  readonly kind: Kind;
  /** The folder of its project, relative to the folder of all projects. */
  readonly project: string;
  /** Its path, relative to the folder of its project. */
  readonly file: string;
  readonly text: string;
  /** Number of lines in `text` before those of the block. */
  readonly before: number;
}

const FILE = /^\/\/ ([\w./-]+\.ts)\b/;
const ENTRY = 'src/index.ts';
const isTest = (file: string) => /\.test\.ts$/.test(file);

/**
 * The blocks `ts` of a page as files of projects. A block names its file in its first line; a plugin that does not is `src/index.ts`. A file that is shown
 * again begins the next version of the project, with the files of the previous version except its tests.
 */
export function modulesOf(page: Page): readonly Module[] {
  const modules: Module[] = [];
  let version = 1;
  for (const block of page.blocks.filter(({ language }) => language === 'ts')) {
    const kind = kindOf(block);
    const file = fileOf(block, kind);
    const projectOf = (number: number) => `${page.file.replaceAll(/[^\w.-]/g, '_')}/${number}`;
    const here = modules.filter(({ project }) => project === projectOf(version));
    if (here.some((other) => other.file === file)) {
      version += 1;
      const kept = here.filter((other) => !isTest(other.file) && other.file !== file && other.kind !== 'fragment');
      modules.push(...kept.map((other) => ({ ...other, project: projectOf(version) })));
    }
    modules.push({
      page: page.file,
      line: block.line,
      kind,
      project: projectOf(version),
      file,
      ...textOf(block, kind),
    });
  }
  return modules;
}

function kindOf({ info, text }: Block): Kind {
  if (info.includes('fragment')) return 'fragment';
  if (/^export default definePlugin\b/m.test(text)) return 'plugin';
  return /^describe\(/m.test(text) ? 'test' : 'module';
}

function fileOf({ line, text }: Block, kind: Kind): string {
  const named = FILE.exec(text)?.[1];
  if (named !== undefined && kind !== 'fragment') return named;
  if (kind === 'plugin') return ENTRY;
  return kind === 'test' ? `test/line-${line}.test.ts` : `line-${line}.ts`;
}

function textOf(block: Block, kind: Kind): Pick<Module, 'text' | 'before'> {
  if (kind !== 'fragment') return { text: `${block.text}\n`, before: 0 };
  const [before, after] = wrapperOf(block);
  return { text: `${[...before, block.text, ...after].join('\n')}\n`, before: before.join('\n').split('\n').length };
}

/** Matches a fragment that begins with keys of `definePlugin`. */
const PART_OF_DEFINITION = /^(?:\s*\/\/.*\n)*\s*(?:async )?\w+(?:: |\(\{?[\w, ]*\}?\) \{)/;
/** The members of the context of `setup`. */
const REGISTRAR = [...readFileSync(at('sdk/src/context.ts'), 'utf8').matchAll(/^ {2}(?:readonly )?(\w+)[<(:]/gm)].map(
  ([, name = '']) => name,
);

/**
 * The code around a fragment: imports of the used values of the packages, the parameters of `setup` and `run`, and the declarations in a comment before the
 * fragment:
 * `<!-- ts: declare const guildId: string; -->`.
 */
function wrapperOf({ text, comments }: Block): readonly [readonly string[], readonly string[]] {
  const given = comments.flatMap((comment) => /^ts:\s*([\s\S]*)$/.exec(comment)?.[1] ?? []);
  const known = [...given, text].join('\n');
  const uses = (name: string) => new RegExp(`(?<![\\w.$'])${name}\\b(?!['?]?:)`).test(known);
  const isDeclared = (name: string) =>
    new RegExp(`(?:const|let|function|class|import type|type|interface) (?:\\{[^}]*)?\\b${name}\\b`).test(known);
  const free = (names: readonly string[]) => [...new Set(names)].filter((name) => uses(name) && !isDeclared(name));
  const values = free(Object.keys(sdk).filter((name) => name !== 'definePlugin'));
  const imports = [
    `import { definePlugin, type CommandContext, type PluginContext } from '@cinnabar/sdk';`,
    ...(values.length === 0 ? [] : [`import { ${values.join(', ')} } from '@cinnabar/sdk';`]),
    'export type Handed = [typeof definePlugin, CommandContext, PluginContext];',
    ...given,
  ];
  if (PART_OF_DEFINITION.test(text)) {
    const setup = /^\s*(?:async )?setup\b/m.test(text) ? '' : 'setup: () => undefined,';
    const manifest = /^\s*manifest:/m.test(text)
      ? ''
      : "manifest: { id: 'fragment', version: '1.0.0', description: 'A part of a plugin' },";
    return [[...imports, `export default definePlugin({ ${manifest} ${setup}`], ['});']];
  }
  const handed = free(REGISTRAR).map((name) => `declare const ${name}: PluginContext['${name}'];`);
  const context = free(['context']).map((name) => `declare const ${name}: CommandContext;`);
  return [[...imports, ...handed, ...context], []];
}

/** Writes the files of all modules below a folder, with access to the packages of an author's project. */
export function writeModules(folder: string, modules: readonly Module[]): void {
  const write = (path: string, text: string) => {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), text);
  };
  write('package.json', JSON.stringify({ type: 'module', private: true }));
  if (!existsSync(join(folder, 'node_modules')))
    symlinkSync(at('node_modules'), join(folder, 'node_modules'), 'junction');
  for (const { project, file, text } of modules) {
    write(join(project, file), text);
    write(
      join(project, 'package.json'),
      JSON.stringify({ type: 'module', private: true, keywords: ['cinnabar-plugin'], main: `./${ENTRY}` }),
    );
  }
}

/** The compiler's output path of a module. */
export const compiled = (folder: string, { project, file }: Module) =>
  join(folder, 'dist', project, file.replace(/\.ts$/, '.js'));

/** Compiles all modules at once, with the options of a project made by `cinnabar new`. */
export async function compileModules(folder: string, modules: readonly Module[]): Promise<readonly Problem[]> {
  writeModules(folder, modules);
  writeFileSync(
    join(folder, 'tsconfig.json'),
    JSON.stringify({
      extends: at('core/templates/plugin/tsconfig.json'),
      compilerOptions: {
        rootDir: '.',
        outDir: 'dist',
        exactOptionalPropertyTypes: true,
        typeRoots: [at('node_modules/@types')],
      },
      include: ['*.md/**/*.ts'],
    }),
  );
  const compiler = at('node_modules/typescript/bin/tsc');
  const output = await new Promise<string>((resolve) => {
    execFile(process.execPath, [compiler, '--pretty', 'false', '-p', folder], { cwd: folder }, (_, out) =>
      resolve(out),
    );
  });
  const byFile = new Map(modules.map((module) => [join(module.project, module.file).split(sep).join('/'), module]));
  const complaints = [...output.matchAll(/^(.+?)\((\d+),\d+\): error (TS\d+): (.+)$/gm)];
  if (complaints.length === 0 && output.trim() !== '') throw new Error(output);
  return complaints.map(([, path = '', line = '', , text = '']) => {
    const module = byFile.get(relative(folder, join(folder, path)).split(sep).join('/'));
    if (module === undefined) throw new Error(output);
    const own = Number(line) - module.before;
    const last = module.line + module.text.split('\n').length - 1;
    return {
      file: module.page,
      line: Math.min(Math.max(module.line + own, module.line), last),
      text:
        module.kind === 'fragment'
          ? `${text} Mend it, or say what it needs in a comment before it: <!-- ts: declare const guildId: string; -->.`
          : `${text} Mend it; what cannot stand alone is a \`ts fragment\`.`,
    };
  });
}
