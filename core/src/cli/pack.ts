import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join, relative, resolve, sep } from 'node:path';
import { text } from 'node:stream/consumers';
import { UserError, z } from '@cinnabar/sdk';
import { hasCredential } from '../observability/log-entry.js';
import { inspectFolder } from '../plugins/discovery.js';
import { parseJson } from '../plugins/install/files.js';
import { checkFolder, linesOf } from './check.js';
import type { Terminal } from './command-line.js';
import type { Arguments } from './discord.js';

const packedSchema = z.tuple([
  z.object({
    name: z.string(),
    filename: z.string(),
    size: z.number(),
    unpackedSize: z.number(),
    files: z.array(z.object({ path: z.string(), size: z.number() })),
  }),
]);
type Packed = z.output<typeof packedSchema>[0];

/** No plugin is larger: such a package must contain files that do not belong in it. */
const MOST_BYTES = 10_000_000;

/**
 * `cinnabar pack [FOLDER]`: makes the package file that others install, if `check` finds no error.
 * @returns the exit code: 1 when something has to be fixed; then no file is made
 * @throws UserError when npm cannot be run
 */
export async function runPack(
  operands: readonly string[],
  { quick, beside, json }: Pick<Arguments, 'quick' | 'beside' | 'json'>,
  terminal: Terminal,
): Promise<number> {
  const folder = resolve(terminal.cwd(), operands[0] ?? '.');
  const report = await checkFolder(operands, { quick, beside }, terminal);
  for (const line of linesOf(report)) terminal.stderr.write(`${line}\n`);
  const refusals = report.errors > 0 ? [] : await refusalsOf(folder, await npmPack(folder, ['--dry-run']));
  for (const refusal of refusals) terminal.stderr.write(`error: ${refusal}\n`);
  if (report.errors > 0 || refusals.length > 0) {
    if (json) terminal.stdout.write(`${JSON.stringify({ report, refusals }, undefined, 2)}\n`);
    return 1;
  }
  const packed = await npmPack(folder, []);
  const file = join(folder, packed.filename);
  if (json) terminal.stdout.write(`${JSON.stringify({ report, refusals, file, ...packed }, undefined, 2)}\n`);
  else terminal.stdout.write(`${summaryOf(file, packed).join('\n')}\n`);
  return 0;
}

function summaryOf(file: string, { name, size, unpackedSize, files }: Packed): readonly string[] {
  return [
    ...files.map((one) => `  ${one.path} (${inKilobytes(one.size)})`),
    `${file}: ${files.length} files, ${inKilobytes(size)} packed, ${inKilobytes(unpackedSize)} unpacked`,
    '',
    `Install it into a bot that is stopped:  cinnabar plugin add ${file}`,
    `into one that runs, as its owner:       !plugin install ${file}`,
    `For everybody:                          npm publish ${file}${name.startsWith('@') ? ' --access public' : ''}`,
    `and then:                               cinnabar plugin add ${name}`,
  ];
}

const inKilobytes = (bytes: number) => `${(bytes / 1000).toFixed(1)} kB`;

/** npm packs the project without running its scripts. */
async function npmPack(folder: string, options: readonly string[]): Promise<Packed> {
  const child = spawn('npm', ['pack', '--json', '--ignore-scripts', '--loglevel', 'error', ...options], {
    cwd: folder,
    stdio: ['ignore', 'pipe', 'pipe'],
    // npm is a script on Windows.
    shell: process.platform === 'win32',
  });
  const exited = new Promise<number | null>((done, fail) => {
    child.once('error', fail);
    child.once('close', done);
  });
  try {
    const [output, problem, code] = await Promise.all([text(child.stdout), text(child.stderr), exited]);
    const parsed = packedSchema.safeParse(parseJson(output));
    if (code === 0 && parsed.success) return parsed.data[0];
    throw new UserError(`npm cannot pack ${folder}: ${problem.trim().slice(0, 400) || `it ended with ${code}`}`);
  } catch (error) {
    if (error instanceof UserError) throw error;
    throw new UserError('npm is not here, and packing needs it: it comes with Node.', { cause: error });
  }
}

/** Files that never belong in a package, with a description. */
const FOREIGN: readonly (readonly [path: RegExp, what: string])[] = [
  [/(?:^|\/)\.env(?:\.(?!example$)[^/]*)?$/, 'an environment with its secrets'],
  [/(?:^|\/)\.npmrc$|\.(?:pem|key|p12|pfx)$|(?:^|\/)id_(?:rsa|ed25519|ecdsa)$/, 'a key'],
  [/(?:^|\/)(?:tests?|__tests__)\/|\.(?:test|spec)\.[cm]?[jt]s$/, 'a test'],
  [/^(?:data|logs)\//, 'data of a bot'],
  [/(?:^|\/)node_modules\//, 'a package of others'],
  [/\.tgz$/, 'a package that was packed before'],
];

/** Why it must not be packed as it is, and how to correct this. */
async function refusalsOf(folder: string, { files, unpackedSize }: Packed): Promise<readonly string[]> {
  const { entry } = inspectFolder(folder, 'folder');
  const packed = new Set(files.map(({ path }) => path));
  const main = relative(folder, entry).split(sep).join('/');
  const missing = [
    ...(packed.has(main) ? [] : [`${main}, which "main" names, would not be in it: add it to "files"`]),
    ...(!existsSync(join(folder, 'locales')) || files.some(({ path }) => path.startsWith('locales/'))
      ? []
      : ['its translations would not be in it: add "locales" to "files"']),
    ...(files.some(({ path }) => /^readme(?:\.[a-z]+)?$/i.test(path))
      ? []
      : ['it has no README: write README.md, with what it does and how it is used']),
  ];
  const foreign = files.flatMap(({ path }) => {
    const [, what] = FOREIGN.find(([pattern]) => pattern.test(path)) ?? [];
    return what === undefined ? [] : [`${path} would be in it, ${what}: narrow "files" in package.json`];
  });
  const secret = await Promise.all(files.map(({ path }) => secretIn(folder, path)));
  const large =
    unpackedSize <= MOST_BYTES
      ? []
      : [`it has ${inKilobytes(unpackedSize)}, and at most ${inKilobytes(MOST_BYTES)} are packed: narrow "files"`];
  return [...missing, ...foreign, ...secret.flat(), ...large];
}

async function secretIn(folder: string, path: string): Promise<readonly string[]> {
  const lines = (await readFile(join(folder, path), 'utf8')).split('\n');
  const line = lines.findIndex(hasCredential) + 1;
  if (line === 0) return [];
  return [`${path}:${line} has what looks like a token or key: take it out, and declare it in "env" of the plugin`];
}
