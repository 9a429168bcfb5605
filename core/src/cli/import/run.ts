import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { UserError } from '@cinnabar/sdk';
import type { HostConfig } from '../../config/host-config.js';
import { shownPath } from '../../config/layout.js';
import { loadConfig } from '../../config/load.js';
import { isSnowflake } from '../../config/names.js';
import { createDiscovery } from '../../plugins/discovery/discovery.js';
import type { Arguments } from '../arguments.js';
import { loadAll } from '../schema.js';
import { moveCalls } from './calls.js';
import { findChapter2 } from './chapter2.js';
import { findChapter3 } from './chapter3.js';
import { convertFile, type KnownKeys } from './convert.js';
import { createFindings, type Findings } from './findings.js';
import { reportText, type Written } from './report.js';
import type { ImportSource } from './source.js';
import { addToFile } from './target.js';

const PROGRAMS = { chapter2: findChapter2, chapter3: findChapter3 } as const;

type Options = Pick<Arguments, 'bot' | 'botId' | 'dryRun' | 'overwrite'>;
type Surroundings = Pick<NodeJS.Process, 'env' | 'cwd'> & { readonly stdout: Pick<NodeJS.WritableStream, 'write'> };

/**
 * `cinnabar import chapter3 DIR`: takes over bots and tool calls of another program and reports what it did. The folder is only read.
 * @returns the exit code: 1 when something here was in the way
 * @throws UserError when it is asked for something that cannot be done
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

/** Everything that the plugins declare to read. */
async function knownKeys({ root, dataDir, buildCacheDir, pluginFolders }: HostConfig): Promise<KnownKeys> {
  const discover = createDiscovery({ folders: pluginFolders, packageRoots: [root, join(dataDir, 'plugins')] });
  const { plugins } = await loadAll(discover, join(buildCacheDir, 'plugins'));
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
