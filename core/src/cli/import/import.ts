import { existsSync, readFileSync, realpathSync, statSync } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { makeFolder, readYaml, replaceFile, UserError } from '@cinnabar/sdk';
import { parseDocument, stringify } from 'yaml';
import { isSnowflake, shownPath } from '../../config/configuration.js';
import type { HostConfig } from '../../config/host-config.js';
import { loadConfig } from '../../config/load.js';
import { discoveryOf } from '../../plugins/discovery.js';
import type { Arguments } from '../discord.js';
import { loadAll } from '../schema.js';
import { convertFile, findChapter2, findChapter3, type ImportSource, type KnownKeys } from './convert.js';
import { moveCalls } from './tool-calls.js';

const PROGRAMS = { chapter2: findChapter2, chapter3: findChapter3 } as const;

type Options = Pick<Arguments, 'bot' | 'botId' | 'dryRun' | 'overwrite'>;
type Surroundings = Pick<NodeJS.Process, 'env' | 'cwd'> & { readonly stdout: Pick<NodeJS.WritableStream, 'write'> };

/**
 * `cinnabar import chapter3 DIR`: imports bots and tool calls of another program, and prints a report. The folder is only read.
 * @returns the exit code: 1 when a part could not be imported because of a conflict here
 * @throws UserError for arguments that cannot be used
 */
export async function runImport(
  operands: readonly string[],
  options: Options,
  { stdout, env, cwd }: Surroundings,
): Promise<number> {
  const [program = '', folder] = operands;
  const find = program === 'chapter2' || program === 'chapter3' ? PROGRAMS[program] : undefined;
  if (find === undefined || folder === undefined || operands.length > 2)
    throw new UserError('It is "import chapter2 DIR" or "import chapter3 DIR".');
  const dir = resolve(cwd(), folder);
  if (!existsSync(dir)) throw new UserError(`There is no folder ${dir}.`);
  if (options.botId !== undefined && !isSnowflake(options.botId))
    throw new UserError('--bot-id must be a user id of Discord.');

  const findings = createFindings();
  const source = find(dir, findings);
  if (source.files.length === 0 && source.tools.length === 0 && findings.all.leftOut.length === 0)
    throw new UserError(`${dir} does not look like a folder of ${program}: neither bots nor tool calls are there.`);
  const here = (bot?: string) => loadConfig(cwd(), env, bot);
  const known = await knownKeys(here());
  const written = {
    files: await writeFiles(source, known, here(), options, program, findings),
    calls: await moveCalls(source, here, options, findings),
  } satisfies Written;
  stdout.write(reportText(written, findings, options.dryRun));
  return findings.all.conflicts.length === 0 ? 0 : 1;
}

/** The schemas of the keys that the plugins declare as importable. */
async function knownKeys(config: HostConfig): Promise<KnownKeys> {
  const discover = discoveryOf(config);
  const { plugins } = await loadAll(discover, join(config.buildCacheDir, 'plugins'));
  return Object.assign({}, ...plugins.map(({ configuration }) => configuration?.shape ?? {}));
}

async function writeFiles(
  { files }: ImportSource,
  known: KnownKeys,
  { root, configDir }: HostConfig,
  { dryRun, overwrite }: Options,
  program: string,
  findings: Findings,
): Promise<Written['files']> {
  const written: Written['files'][number][] = [];
  for (const file of files) {
    const path = join(configDir, file.target);
    const shown = shownPath(root, path);
    const from = `${file.shown} of ${program}`;
    const values = convertFile(file, known, findings);
    const keys = await addToFile(path, values, { dryRun, overwrite, shown, from }, findings);
    if (keys.length > 0) written.push({ shown, keys });
  }
  return written;
}

const NEW_FILE_MODE = 0o644;

interface TargetOptions {
  readonly dryRun: boolean;
  readonly overwrite: boolean;
  /** The path for messages. */
  readonly shown: string;
  readonly from: string;
}

/**
 * Adds values to a YAML file, and keeps its comments. Existing keys with another value are kept, too, unless `overwrite` is set: then the previous file is kept
 * beside the new one.
 * @returns the keys that were (or would be) written
 */
async function addToFile(
  path: string,
  values: Readonly<Record<string, unknown>>,
  { dryRun, overwrite, shown, from }: TargetOptions,
  findings: Findings,
): Promise<readonly string[]> {
  const before = existsSync(path) ? readFileSync(path, 'utf8') : undefined;
  const reading = readYaml(before ?? '');
  if (!reading.ok) {
    findings.conflict(`${shown}:${reading.line}: ${reading.problem}; nothing was added to it`);
    return [];
  }
  const present = reading.values;
  const differing = Object.keys(values).filter(
    (key) => key in present && present[key] !== null && !isDeepStrictEqual(present[key], values[key]),
  );
  if (!overwrite) {
    for (const key of differing)
      findings.conflict(`${shown}:${reading.lineOf([key])}: ${key} is there already with another value, and stays`);
  }
  const written = Object.keys(values).filter(
    (key) => !(key in present) || present[key] === null || (overwrite && differing.includes(key)),
  );
  if (written.length === 0 || dryRun) return written;

  // People read and edit this file, unlike the data: a new folder and a new file get the usual rights.
  await mkdir(dirname(path), { recursive: true });
  await makeFolder(dirname(path));
  const mode = before === undefined ? NEW_FILE_MODE : statSync(path).mode & 0o777;
  if (before !== undefined && differing.length > 0 && overwrite) {
    await replaceFile(`${path}.before-import`, before, { mode });
    findings.note(`${shown}: ${differing.join(', ')} replaced; the file as it was is ${shown}.before-import`);
  }
  const added = Object.fromEntries(written.map((key) => [key, values[key]]));
  const content = before === undefined ? `# Taken over from ${from}.\n${stringify(added)}` : withKeys(before, added);
  // Follows a link, as an editor would.
  await replaceFile(before === undefined ? path : realpathSync(path), content, { mode });
  return written;
}

function withKeys(before: string, added: Readonly<Record<string, unknown>>): string {
  const document = parseDocument(before);
  // A file of comments only.
  if (document.contents === null) return `${before.trimEnd()}\n${stringify(added)}`;
  for (const [key, value] of Object.entries(added)) document.set(key, value);
  return document.toString();
}

/** The files that an import wrote, or would write in a dry run. */
export interface Written {
  readonly files: readonly { readonly shown: string; readonly keys: readonly string[] }[];
  readonly calls: readonly { readonly bot: string; readonly folder: string; readonly count: number }[];
}

/** The report for people, in sections. Empty sections are left out. */
export function reportText({ files, calls }: Written, { all }: Findings, dryRun: boolean): string {
  const would = dryRun ? 'would be ' : '';
  const secrets = [
    ...new Set(all.secrets.map(({ variable, file, from }) => `${variable} in ${file} (it is in ${from})`)),
  ];
  const sections: readonly (readonly [title: string, lines: readonly string[]])[] = [
    [`Configuration that ${would || 'was '}written`, files.map(({ shown, keys }) => `${shown}: ${keys.join(', ')}`)],
    [
      `Tool calls that ${would || 'were '}taken over`,
      calls.map(({ bot, folder, count }) => `${bot}: ${count}, into ${folder}`),
    ],
    ['Secrets were not copied. Set these variables', secrets],
    ['To know', all.notes],
    ['Left out', all.leftOut],
    ['There already, and not touched', all.conflicts],
  ];
  const text = sections
    .filter(([, lines]) => lines.length > 0)
    .map(([title, lines]) => `${title}:\n${lines.map((line) => `  ${line}\n`).join('')}`)
    .join('\n');
  return text === '' ? 'There was nothing new to take over.\n' : text;
}

/** The results of an import, collected while it is planned and carried out. */
export interface Findings {
  /** A value that was not imported, and why. */
  leftOut(sentence: string): void;
  /** A value that exists already and differs. */
  conflict(sentence: string): void;
  note(sentence: string): void;
  /** A secret that belongs into the environment. */
  secret(variable: string, file: string, from: string): void;
  readonly all: {
    readonly leftOut: readonly string[];
    readonly conflicts: readonly string[];
    readonly notes: readonly string[];
    readonly secrets: readonly { readonly variable: string; readonly file: string; readonly from: string }[];
  };
}

function createFindings(): Findings {
  const leftOut: string[] = [];
  const conflicts: string[] = [];
  const notes: string[] = [];
  const secrets: { readonly variable: string; readonly file: string; readonly from: string }[] = [];
  return {
    leftOut: (sentence) => void leftOut.push(sentence),
    conflict: (sentence) => void conflicts.push(sentence),
    note: (sentence) => void notes.push(sentence),
    secret: (variable, file, from) => void secrets.push({ variable, file, from }),
    all: { leftOut, conflicts, notes, secrets },
  };
}
