import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { readdir, readFile } from 'node:fs/promises';
import { isBuiltin, SourceMap, type SourceMapPayload } from 'node:module';
import { dirname, extname, join, relative } from 'node:path';
import type { Plugin as BundlerPlugin } from 'esbuild';
import { findPackage } from '../build/evaluate.js';
import { parseJson } from '../install/files.js';
import { better, type Finding, type Sought, wrong } from './findings.js';
import type { PluginPackage } from './package-checks.js';

/** A source file of the plugin, as its author wrote it. */
interface Source {
  /** Path from the project's folder. */
  readonly file: string;
  readonly text: string;
}

interface Sources {
  readonly files: readonly Source[];
  readonly findings: readonly Sought[];
}

const CODE = ['.ts', '.mts', '.cts', '.js', '.mjs', '.cjs'];
const LEFT_OUT = new Set(['node_modules', 'dist', 'test', 'tests', 'locales']);
const SET = ['setTimeout', 'setInterval', 'setImmediate'] as const;
/** The bundler's output for a timer that the file does not declare itself. */
const MARK = '__cinnabar_bare_';
const INSTEAD = {
  setTimeout: 'use `after(ms, task)` of the setup context, which ends with the plugin',
  setInterval: 'use `every(ms, task)` of the setup context, which ends with the plugin',
  setImmediate: 'use `after(0, task)` of the setup context, which ends with the plugin',
} as const;

/** Checks a plugin's sources without running them: Node's own timers, undeclared packages, untranslated texts. */
export async function checkSources(
  folder: string,
  entry: string,
  file: PluginPackage,
  hasLocales: boolean,
): Promise<Sources> {
  const paths = await sourcesIn(dirname(entry));
  const files = await Promise.all(
    paths.map(async (path) => ({ file: relative(folder, path), text: await readFile(path, 'utf8') })),
  );
  const built = await build(folder, paths).catch(() => undefined);
  // Build errors are reported when the plugin is loaded.
  if (built === undefined) return { files, findings: [] };
  const findings = [
    ...built.timers,
    ...packageFindings(folder, built.imports, file),
    ...(hasLocales ? untranslated(files) : []),
    ...contentFindings(files),
  ];
  return { files, findings };
}

async function sourcesIn(folder: string): Promise<readonly string[]> {
  const entries = await readdir(folder, { withFileTypes: true });
  const found = await Promise.all(
    entries.map(async (entry) => {
      const path = join(folder, entry.name);
      if (entry.isDirectory()) return LEFT_OUT.has(entry.name) || entry.name.startsWith('.') ? [] : sourcesIn(path);
      const isCode = CODE.includes(extname(entry.name)) && !/\.(?:test|spec|d)\.[cm]?[jt]s$/.test(entry.name);
      return isCode ? [path] : [];
    }),
  );
  return found.flat();
}

interface Built {
  readonly timers: readonly Sought[];
  /** Packages by name. */
  readonly imports: ReadonlySet<string>;
}

/** Bundles the files to find timers and imports, since the bundler resolves names: a `setTimeout` that the file declares is not Node's. */
async function build(folder: string, paths: readonly string[]): Promise<Built> {
  const esbuild = await import('esbuild');
  const imports = new Set<string>();
  const timersFrom: { readonly module: string; readonly importer: string }[] = [];
  const { outputFiles } = await esbuild.build({
    absWorkingDir: folder,
    entryPoints: [...paths],
    outdir: join(folder, '.cinnabar-check'),
    write: false,
    bundle: true,
    format: 'esm',
    platform: 'node',
    sourcemap: 'external',
    define: Object.fromEntries(
      SET.flatMap((name) => ['', 'globalThis.', 'global.'].map((object) => [`${object}${name}`, `${MARK}${name}`])),
    ),
    plugins: [
      eachByItself((module, importer) => {
        if (/^(?:node:)?timers(?:\/promises)?$/.test(module)) timersFrom.push({ module, importer });
        const name = /^(?:@[^/]+\/)?[^/.][^/]*/.exec(module)?.[0];
        if (name !== undefined && !isBuiltin(module) && !module.startsWith('#')) imports.add(name);
      }),
    ],
    logLevel: 'silent',
  });
  const timers = outputFiles
    .filter(({ path }) => path.endsWith('.js'))
    .flatMap(({ path, text }) => {
      const payload = parseJson(outputFiles.find((other) => other.path === `${path}.map`)?.text ?? '');
      return isPayload(payload) ? timersIn(text, new SourceMap(payload), folder, dirname(path)) : [];
    });
  return { timers: [...timers, ...(await moduleFindings(folder, timersFrom))], imports };
}

/** `import { setTimeout } from 'node:timers/promises'` */
async function moduleFindings(
  folder: string,
  imported: readonly { readonly module: string; readonly importer: string }[],
): Promise<readonly Sought[]> {
  return Promise.all(
    imported.map(async ({ module, importer }) => {
      const lines = (await readFile(importer, 'utf8')).split('\n');
      const line = lines.findIndex((text) => text.includes(`'${module}'`) || text.includes(`"${module}"`)) + 1;
      const place = { file: relative(folder, importer), ...(line === 0 ? {} : { line }) };
      // Only a warning: an awaited timer ends by itself, though possibly after the plugin.
      if (module.endsWith('promises'))
        return better(
          'bare-timer',
          `${module} waits on when the plugin is stopped: use \`sleep\` of the SDK with \`signal\``,
          place,
        );
      return wrong(
        'bare-timer',
        `timers of ${module} go on when the plugin is stopped: use \`after\` and \`every\` of the setup context`,
        place,
      );
    }),
  );
}

/** Keeps each file a separate entry point: records its imports, and does not bundle them. */
const eachByItself = (note: (module: string, importer: string) => void): BundlerPlugin => ({
  name: 'each-by-itself',
  setup: ({ onResolve }) =>
    onResolve({ filter: /.*/ }, ({ path, importer, kind }) => {
      if (kind === 'entry-point') return undefined;
      note(path, importer);
      return { path, external: true };
    }),
});

function isPayload(value: unknown): value is SourceMapPayload {
  return typeof value === 'object' && value !== null && 'mappings' in value && 'sources' in value;
}

function timersIn(code: string, map: SourceMap, folder: string, outFolder: string): readonly Finding[] {
  return code.split('\n').flatMap((text, number) =>
    [...text.matchAll(new RegExp(`${MARK}(set\\w+)`, 'g'))].flatMap(({ index, 1: name }) => {
      const kind = SET.find((one) => one === name);
      if (kind === undefined) return [];
      const from = map.findEntry(number, index);
      const place =
        'originalSource' in from
          ? { file: relative(folder, join(outFolder, from.originalSource)), line: from.originalLine + 1 }
          : {};
      return [wrong('bare-timer', `${kind} goes on when the plugin is stopped: ${INSTEAD[kind]}`, place)];
    }),
  );
}

/** Modules that the host shares with every plugin. */
const LENT = new Set(['discord.js', 'zod', '@cinnabar/sdk']);

function packageFindings(folder: string, imports: ReadonlySet<string>, file: PluginPackage): readonly Sought[] {
  const declared = { ...file.dependencies, ...file.optionalDependencies, ...file.peerDependencies };
  const missing = [...imports].filter((name) => !LENT.has(name) && !Object.hasOwn(declared, name));
  const unused = Object.keys(file.dependencies).filter((name) => !LENT.has(name) && !imports.has(name));
  return [
    ...missing.map((name) => {
      const why =
        name in file.devDependencies ? 'only in "devDependencies", which others do not get' : 'not in package.json';
      return wrong('dependency', `it imports "${name}", which is ${why}: run "npm install ${name}" in ${folder}`, {
        seek: `'${name}`,
      });
    }),
    ...unused.map((name) =>
      better('dependency', `no source imports "${name}", which everybody has to install: run "npm uninstall ${name}"`, {
        file: 'package.json',
      }),
    ),
  ];
}

/** Findings about reading `content` without the intent MessageContent, without which Discord leaves the text out of messages. */
function contentFindings(files: readonly Source[]): readonly Sought[] {
  if (files.some(({ text }) => text.includes('MessageContent'))) return [];
  return files.flatMap(({ file, text }) => {
    const [listener, event] = /\bon\(\s*['"](message(?:Create|Update))['"]/.exec(text) ?? [];
    if (listener === undefined || !/\.content\b/.test(text)) return [];
    return [
      better('intent', `it reads what messages say at ${event}: its manifest needs intents: ['MessageContent']`, {
        file,
        line: text.slice(0, text.indexOf(listener)).split('\n').length,
      }),
    ];
  });
}

/** A sentence passed to `reply` without `t`. */
const SAID = /\breply\(\s*(?:\{\s*content:\s*)?['"`](?=[^'"`\n]*\p{L}+ \p{L})/u;

function untranslated(files: readonly Source[]): readonly Sought[] {
  return files.flatMap(({ file, text }) =>
    text.split('\n').flatMap((line, index) =>
      SAID.test(line) && !/^\s*(?:\/\/|\*)/.test(line)
        ? [
            better('untranslated', "it has locales, and this text goes past them: write t('…') around it", {
              file,
              line: index + 1,
            }),
          ]
        : [],
    ),
  );
}

/** Sets the line of findings that search for a text to the first line that contains it. */
export function placed(findings: readonly Sought[], files: readonly Source[]): readonly Finding[] {
  return findings.map(({ seek, ...finding }) => {
    if (seek === undefined || finding.file !== undefined) return finding;
    for (const { file, text } of files) {
      const index = text.split('\n').findIndex((line) => line.includes(seek));
      if (index >= 0) return { ...finding, file, line: index + 1 };
    }
    return finding;
  });
}

/** `src/index.ts(7,3): error TS2322: Type …` */
const ERROR = /^(.+?)\((\d+),\d+\): error TS\d+: (.*)$/;
const OTHER = /^error TS\d+: (.*)$/;
const MOST = 20;

/** Runs the project's own TypeScript compiler; writes nothing. */
export async function checkTypes(folder: string, entry: string): Promise<readonly Sought[]> {
  if (!/\.[cm]?ts$/.test(entry)) return [];
  const compiler = compilerOf(folder);
  if (compiler === 'no tsconfig.json')
    return [better('types', 'its types were not looked at: there is no tsconfig.json, make one with "cinnabar new"')];
  if (compiler === 'no compiler')
    return [better('types', `its types were not looked at: run "npm install --save-dev typescript" in ${folder}`)];
  const output = (await compiler.check()) ?? '';
  const errors = output.split('\n').flatMap((line) => {
    const [, file, number, text] = ERROR.exec(line) ?? [];
    if (file !== undefined && text !== undefined) return [wrong('types', text, { file, line: Number(number) })];
    const [, other] = OTHER.exec(line) ?? [];
    return other === undefined ? [] : [wrong('types', other, { file: 'tsconfig.json' })];
  });
  return errors.slice(0, MOST);
}

/** The project's own TypeScript compiler. */
interface Compiler {
  /**
   * Checks the types of the whole project; writes nothing.
   * @returns what it prints, `src/index.ts(7,3): error TS2322: Type …` a line; `undefined` when it was stopped by the signal
   */
  check(signal?: AbortSignal): Promise<string | undefined>;
}

/** @returns a reason when the project's types cannot be checked */
export function compilerOf(folder: string): Compiler | 'no tsconfig.json' | 'no compiler' {
  if (!existsSync(join(folder, 'tsconfig.json'))) return 'no tsconfig.json';
  const compiler = findPackage('typescript', folder);
  if (compiler === undefined) return 'no compiler';
  const args = [join(compiler, 'bin', 'tsc'), '--noEmit', '--pretty', 'false'];
  return {
    check: (signal) =>
      new Promise((resolve, reject) => {
        const child = spawn(process.execPath, args, { cwd: folder, stdio: ['ignore', 'pipe', 'pipe'] });
        signal?.addEventListener('abort', () => child.kill(), { once: true });
        let output = '';
        for (const stream of [child.stdout, child.stderr])
          stream.setEncoding('utf8').on('data', (text: string) => {
            output += text;
          });
        child.once('error', reject);
        child.once('close', () => resolve(signal?.aborted === true ? undefined : output));
      }),
  };
}
