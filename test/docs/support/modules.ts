import { execFile } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join, relative, sep } from 'node:path';
import * as sdk from '@cinnabar/sdk';
import type { Block, Page, Problem } from './markdown.js';
import { at } from './pages.js';

/** What a block of TypeScript is: a plugin's entry, a test, a part of a module, or another module. */
export type Kind = 'plugin' | 'test' | 'fragment' | 'module';

/** A block as a file of an author's project. */
export interface Module {
  readonly page: string;
  /** Of the fence. */
  readonly line: number;
  readonly kind: Kind;
  /** The folder of its project, from the folder of all. */
  readonly project: string;
  /** From the folder of its project. */
  readonly file: string;
  readonly text: string;
  /** How many lines of `text` stand before the block's own. */
  readonly before: number;
}

const FILE = /^\/\/ ([\w./-]+\.ts)\b/;
const ENTRY = 'src/index.ts';
const isTest = (file: string) => /\.test\.ts$/.test(file);

/**
 * The blocks `ts` of a page as files of projects. A block says in its first line which file it is; a plugin that does not is `src/index.ts`. A file
 * that is shown again is the next version of the project: it has the files of the one before, but for the tests.
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

/** The keys of what `definePlugin` takes, as a fragment that shows some of them begins. */
const PART_OF_DEFINITION = /^(?:\s*\/\/.*\n)*\s*(?:async )?\w+(?:: |\(\{?[\w, ]*\}?\) \{)/;
/** What `setup` is handed, by the names of its members. */
const REGISTRAR = [...readFileSync(at('sdk/src/context.ts'), 'utf8').matchAll(/^ {2}(?:readonly )?(\w+)[<(:]/gm)].map(
  ([, name = '']) => name,
);

/**
 * What stands around a fragment: the packages' values that it uses, what `setup` and `run` are handed, and what a comment before it says of the rest:
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

/** Writes the files of all modules below a folder, where they find the packages that an author's project has. */
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

/** Where the compiler puts a module. */
export const compiled = (folder: string, { project, file }: Module) =>
  join(folder, 'dist', project, file.replace(/\.ts$/, '.js'));

/** Compiles all modules at once, with the options of a project that `cinnabar new` makes. */
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
