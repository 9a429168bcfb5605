import { createInterface } from 'node:readline/promises';
import {
  type InstalledPlugin,
  needsConsent,
  offerLines,
  type PluginPackages,
  type PreparedPlugin,
  UserError,
} from '@cinnabar/sdk';
import { createSystemClock, createSystemRandom } from '../clock/clock.js';
import type { HostConfig } from '../config/host-config.js';
import { createRedactor, secretsIn } from '../observability/log-entry.js';
import { createLogs } from '../observability/logs.js';
import { assertStarts } from '../plugins/check/check.js';
import { discoveryOf } from '../plugins/discovery.js';
import { readCommands } from '../plugins/install/declaration.js';
import { createInstaller } from '../plugins/install/installer.js';
import { whileLocked } from './backup.js';
import type { Arguments } from './discord.js';
import { harmless } from './harmless.js';
import { onStoppedData } from './stopped-data.js';

interface Terminal {
  readonly stdin: NodeJS.ReadableStream;
  readonly stdout: NodeJS.WritableStream;
  readonly stderr: NodeJS.WritableStream;
}

type Options = Pick<Arguments, 'yes' | 'json' | 'verify' | 'withData'>;

const USAGE =
  'It is "plugin add SPEC", "plugin update [ID or SPEC]", "plugin remove ID", "plugin pin ID", "plugin unpin ID", "plugin list", "plugin updates" or "plugin search [WORDS]".';

/** The context of one command. */
interface Work {
  readonly operands: readonly string[];
  readonly options: Options;
  readonly config: HostConfig;
  readonly terminal: Terminal;
}

/**
 * `cinnabar plugin …`: installs, updates and removes plugins while the bot is stopped; lists and shows them at any time.
 * @returns the exit code: 1 when the owner did not agree, or something is wrong
 * @throws CINNABAR_DATA_IN_USE for a change while the bot runs; UserError
 */
export async function runPlugin(
  [act = '', ...operands]: readonly string[],
  options: Options,
  config: HostConfig,
  terminal: Terminal,
): Promise<number> {
  const run = Object.hasOwn(ACTS, act) ? ACTS[act] : undefined;
  if (run === undefined) throw new UserError(USAGE);
  return run({ operands, options, config, terminal });
}

const ACTS: Readonly<Record<string, (work: Work) => Promise<number>>> = {
  add: (work) =>
    locked(work, async (packages) =>
      agreeAndInstall(await packages.prepare(only(work), stepsOn(work.terminal)), work.options, work.terminal),
    ),
  update: (work) => locked(work, (packages) => update(packages, work)),
  remove,
  pin: (work) => locked(work, (packages) => pin(packages, work, true)),
  unpin: (work) => locked(work, (packages) => pin(packages, work, false)),
  list,
  updates,
  search,
};

/** The one operand. @throws UserError */
function only({ operands: [operand, ...others] }: Work): string {
  if (operand === undefined || others.length > 0) throw new UserError(USAGE);
  return operand;
}

const say = ({ stdout }: Terminal, text: string) => void stdout.write(`${harmless(text)}\n`);
const stepsOn =
  ({ stderr }: Terminal) =>
  (step: string) =>
    void stderr.write(`${harmless(step)}\n`);

/** Runs a task while this process holds the data's lock. @throws CINNABAR_DATA_IN_USE */
function locked({ config, terminal }: Work, task: (packages: PluginPackages) => Promise<number>): Promise<number> {
  return whileLocked(config.dataDir, terminal, () => task(installerFor(config)));
}

async function remove(work: Work): Promise<number> {
  const { options, config, terminal } = work;
  const id = only(work);
  const withData =
    options.withData || (!options.yes && (await agrees(`Remove the settings and data of ${id}, too?`, terminal)));
  if (!withData)
    return locked(work, async (packages) => {
      await packages.remove(id, { withData });
      say(terminal, `Removed ${id}. Its settings and data stay: with --with-data they would have gone, too.`);
      return 0;
    });
  return onStoppedData(config, { onProblem: stepsOn(terminal) }, async ({ storage }) => {
    await installerFor(config, storage.eraseAll).remove(id, { withData });
    say(terminal, `Removed ${id} with its settings and data.`);
    return 0;
  });
}

async function pin(packages: PluginPackages, work: Work, isPinned: boolean): Promise<number> {
  const id = only(work);
  const { version } = await packages.pin(id, isPinned);
  say(work.terminal, isPinned ? `${id} stays at ${version}.` : `${id} ${version} is updated again.`);
  return 0;
}

async function list({ options: { json, verify }, config, terminal }: Work): Promise<number> {
  const all = await installerFor(config).list();
  if (json) say(terminal, JSON.stringify(all));
  else if (all.length === 0) say(terminal, 'No plugins are installed beside those that come with the host.');
  else for (const plugin of all) say(terminal, lineOf(plugin, verify));
  return all.some(({ problem }) => problem !== undefined) ? 1 : 0;
}

async function updates({ options: { json }, config, terminal }: Work): Promise<number> {
  const { updates, problems } = await installerFor(config).updates();
  if (json) say(terminal, JSON.stringify({ updates, problems }));
  else {
    for (const { id, from, to, pinned } of updates) say(terminal, `${id} ${from} → ${to}${pinned ? ' (pinned)' : ''}`);
    if (updates.length === 0 && problems.length === 0) say(terminal, 'There is nothing newer.');
    for (const problem of problems) stepsOn(terminal)(problem);
  }
  return problems.length === 0 ? 0 : 1;
}

async function search({ operands, options: { json }, config, terminal }: Work): Promise<number> {
  const { found, problems } = await installerFor(config).search(operands.join(' '));
  if (json) say(terminal, JSON.stringify({ found, problems }));
  else {
    for (const { id, version, description } of found) say(terminal, `${id} ${version}: ${description}`);
    if (found.length === 0) say(terminal, 'Nothing was found.');
    for (const problem of problems) stepsOn(terminal)(problem);
  }
  return problems.length === 0 ? 0 : 1;
}

function installerFor(
  config: HostConfig,
  eraseData: (id: string) => Promise<void> = async () => undefined,
): PluginPackages {
  const clock = createSystemClock();
  const logs = createLogs({
    dir: config.logDir,
    level: config.logLevel,
    clock,
    redactor: createRedactor(secretsIn(config)),
  });
  const discover = discoveryOf(config);
  return createInstaller({
    config,
    discover,
    async clashes(names, id) {
      const others = (await discover()).plugins.filter((one) => one.id !== id);
      const taken = await readCommands(others, config.buildCacheDir);
      return names.filter((name) => taken.includes(name));
    },
    intents: () => undefined,
    trial: (folder) => assertStarts(folder, { buildCacheDir: config.buildCacheDir, env: config.env }),
    eraseData,
    random: createSystemRandom(clock),
    log: logs.logger('plugins'),
  });
}

/** Updates every installed plugin that is not pinned, or the named one. */
async function update(packages: PluginPackages, { operands, options, terminal }: Work): Promise<number> {
  const [wanted, ...others] = operands;
  if (others.length > 0) throw new UserError(USAGE);
  const onStep = stepsOn(terminal);
  const ids =
    wanted === undefined ? (await packages.list()).filter(({ pinned }) => !pinned).map(({ id }) => id) : [wanted];
  let code = 0;
  for (const id of ids) {
    try {
      const prepared = await packages.prepareUpdate(id, onStep);
      if (prepared === undefined) terminal.stdout.write(`${id} is up to date.\n`);
      else code = Math.max(code, await agreeAndInstall(prepared, options, terminal));
    } catch (error) {
      // When one of several cannot be updated, the others still are.
      if (wanted !== undefined || !(error instanceof UserError)) throw error;
      stepsOn(terminal)(error.message);
      code = 1;
    }
  }
  return code;
}

/** Shows the declaration, asks for consent, and installs. An update that declares nothing new needs no consent. */
async function agreeAndInstall(prepared: PreparedPlugin, { yes, json }: Options, terminal: Terminal): Promise<number> {
  const { offer } = prepared;
  if (!json) terminal.stdout.write(`${offerLines(offer).map(plain).join('\n')}\n`);
  const question =
    offer.update === undefined ? `Install ${offer.id} ${offer.version}?` : `Update ${offer.id} to ${offer.version}?`;
  if (!(yes || !needsConsent(offer) || (await agrees(question, terminal)))) {
    await prepared.discard();
    terminal.stderr.write('Nothing was changed. Answer y, or say --yes.\n');
    return 1;
  }
  const installed = await prepared.install();
  const done =
    offer.update === undefined
      ? `Installed ${offer.id} ${installed.version}.`
      : `Updated ${offer.id} from ${offer.update.from} to ${installed.version}.`;
  terminal.stdout.write(json ? `${JSON.stringify({ offer, installed })}\n` : `${done}\n`);
  return 0;
}

/** Removes Markdown's markup. */
const plain = (line: string) => line.replaceAll(/\*\*|`/g, '');

/** Answers no when the input has ended. */
async function agrees(question: string, { stdin, stderr }: Terminal): Promise<boolean> {
  const lines = createInterface({ input: stdin, output: stderr, terminal: false });
  try {
    stderr.write(`${question} [y/N] `);
    for await (const line of lines) return /^y(?:es)?$/i.test(line.trim());
    return false;
  } finally {
    lines.close();
  }
}

function lineOf(
  { id, version, packageName, spec, pinned, integrity, problem }: InstalledPlugin,
  isVerified: boolean,
): string {
  const notes = [
    `${packageName}, from ${spec}`,
    ...(pinned ? ['pinned'] : []),
    ...(isVerified ? [integrity, ...(problem === undefined ? ['verified'] : [])] : []),
  ];
  return [`${id} ${version} (${notes.join('; ')})`, ...(problem === undefined ? [] : [`  ${problem}`])].join('\n');
}
