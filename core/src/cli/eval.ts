import { existsSync } from 'node:fs';
import { cp, mkdtemp, readdir, realpath, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { Accounts, formatUsd, Llm, type Plugin, Tools, UserError } from '@cinnabar/sdk';
import { createSystemClock } from '../clock/clock.js';
import type { HostConfig } from '../config/host-config.js';
import { loadConfig } from '../config/load.js';
import { startTrialHost, type TrialHost } from '../plugins/check/trial-host.js';
import { type Discovery, discoveryOf } from '../plugins/discovery.js';
import { casesOf, type EvaluationCase } from '../plugins/evaluation/cases.js';
import { evaluate } from '../plugins/evaluation/evaluate.js';
import { linesOf, type ModelReport, reportOf } from '../plugins/evaluation/report.js';
import type { BorrowedDefinitions } from '../plugins/loader.js';
import { SECRETS_FILE } from '../storage/paths.js';
import { projectKind } from './check.js';
import type { Terminal } from './command-line.js';
import type { Arguments } from './discord.js';
import { definitions, loadAll } from './schema.js';

type Options = Pick<Arguments, 'bot' | 'json' | 'evaluation'>;

const DISTRACTORS = 15;
/** The default limit of `--max-cost`, in US dollars. */
const MOST_COST = 5;

/**
 * `cinnabar eval [FOLDER]`: sends example requests for tools to models, and shows which tools they call. The plugins run on a local Discord with separate data
 * and reach no server: only the model provider and the plugin of FOLDER get their variables.
 * @returns the exit code: 1 when a model is right less often than `--at-least` says, or nothing was answered
 * @throws UserError for an unknown folder, plugin, tool or number
 */
export async function runEval(
  [folder = '.', ...others]: readonly string[],
  { bot, json, evaluation }: Options,
  terminal: Terminal,
): Promise<number> {
  if (others.length > 0) throw new UserError('One folder at a time.');
  const bounds = {
    distractors: numberFrom('--distractors', evaluation.distractors, DISTRACTORS),
    seed: numberFrom('--seed', evaluation.seed, 1),
    maxCost: numberFrom('--max-cost', evaluation.maxCost, MOST_COST),
    atLeast: numberFrom('--at-least', evaluation.atLeast, 0),
  };
  const say = (line: string) => void terminal.stderr.write(`${line}\n`);
  const root = await realpath(resolve(terminal.cwd(), folder)).catch(() => resolve(terminal.cwd(), folder));
  const config = loadConfig(root, terminal.env, bot);
  const own = projectKind(root) === 'plugin' ? [root] : [];
  const found = await discoveryOf({ ...config, pluginFolders: [...config.pluginFolders, ...own] })();
  const { plugins, problems } = await loadAll(async () => found, join(config.buildCacheDir, 'plugins'));
  for (const problem of problems) say(problem);
  const here = found.plugins.find(({ path }) => path === root)?.id;
  const chosen = chosenOf(evaluation.plugins, here, plugins);

  const dataDir = await mkdtemp(join(tmpdir(), 'cinnabar-eval-'));
  const borrowed = definitions.borrow();
  try {
    say('starting the plugins on a local Discord');
    await using trial = await startTrial({ config, found, plugins, here, dataDir, borrowed });
    for (const { plugin, problem } of trial.problems) say(`${plugin}: ${problem}`);
    const cases = chooseCases(trial, plugins, chosen, { ...bounds, tools: evaluation.tools });
    const reports: ModelReport[] = [];
    for (const model of evaluation.models.length === 0 ? [undefined] : evaluation.models)
      reports.push(await evaluateModel(trial, model, cases, { maxCost: bounds.maxCost, say }));
    const text = json
      ? `${JSON.stringify({ version: 1, seed: bounds.seed, distractors: bounds.distractors, models: reports }, undefined, 2)}\n`
      : `${reports.flatMap((report) => [...linesOf(report), '']).join('\n')}`;
    terminal.stdout.write(text);
    const isGoodEnough = ({ right, total }: ModelReport) => right >= bounds.atLeast && total.failures < total.asked;
    return reports.every(isGoodEnough) ? 0 : 1;
  } finally {
    borrowed.giveBack();
    await rm(dataDir, { recursive: true, force: true });
  }
}

function numberFrom(option: string, text: string | undefined, otherwise: number): number {
  if (text === undefined) return otherwise;
  const number = Number(text);
  if (text.trim() === '' || !Number.isFinite(number) || number < 0)
    throw new UserError(`${option} ${text}: a number of 0 or more is needed.`);
  return number;
}

/** Which plugins are evaluated: the named ones, else the one in the folder, else all. */
function chosenOf(named: readonly string[], here: string | undefined, plugins: readonly Plugin[]): ReadonlySet<string> {
  const ids = new Set(plugins.map(({ manifest }) => manifest.id));
  for (const id of named)
    if (!ids.has(id)) throw new UserError(`There is no plugin "${id}". There are: ${[...ids].sort().join(', ')}.`);
  if (named.length > 0) return new Set(named);
  if (here === undefined) return ids;
  if (!ids.has(here)) throw new UserError(`The plugin ${here} could not be loaded.`);
  return new Set([here]);
}

interface TrialSetup {
  readonly config: HostConfig;
  readonly found: Discovery;
  readonly plugins: readonly Plugin[];
  /** The plugin of the folder. */
  readonly here: string | undefined;
  readonly dataDir: string;
  /** The definitions of bundled plugins, which are not evaluated again. */
  readonly borrowed: BorrowedDefinitions;
}

async function startTrial({ config, found, plugins, here, dataDir, borrowed }: TrialSetup): Promise<TrialHost> {
  const providing = plugins.filter(({ provides }) => provides.includes(Llm)).map(({ manifest }) => manifest.id);
  const trusted = new Set([...providing, ...(here === undefined ? [] : [here])]);
  await copySettings(config.dataDir, dataDir, trusted);
  const declaredBy = (isTheirs: (id: string) => boolean) =>
    new Set(
      plugins.filter(({ manifest }) => isTheirs(manifest.id)).flatMap((plugin) => Object.keys(plugin.env?.shape ?? {})),
    );
  const [needed, others] = [declaredBy((id) => trusted.has(id)), declaredBy((id) => !trusted.has(id))];
  // Keeps variables that no plugin declares, since the configuration files refer to variables of vendors.
  const env = Object.entries(config.env).filter(([name]) => needed.has(name) || !others.has(name));
  return startTrialHost({
    dataDir,
    buildCacheDir: config.buildCacheDir,
    root: dataDir,
    pluginFolders: found.plugins.filter(({ source }) => source !== 'bundled').map(({ path }) => path),
    // Charged to no budget: the operator runs this, and `--max-cost` is the limit.
    only: plugins.filter(({ provides }) => !provides.includes(Accounts)).map(({ manifest }) => manifest.id),
    env: Object.fromEntries(env),
    presets: Object.fromEntries(Object.entries(config.presets).filter(([id]) => trusted.has(id))),
    configDir: config.configDir,
    clock: createSystemClock(),
    builtPlugins: borrowed.builtPlugins,
    reusePlugin: borrowed.reuse,
  });
}

/** The owner's choices on Discord: the model, and keys that were entered there. */
async function copySettings(from: string, to: string, plugins: ReadonlySet<string>): Promise<void> {
  const secrets = join(from, SECRETS_FILE);
  if (existsSync(secrets)) await cp(secrets, join(to, SECRETS_FILE));
  const documents = join(from, 'documents');
  if (!existsSync(documents)) return;
  for (const id of await readdir(documents)) {
    const settings = join(documents, id, 'settings', 'global');
    if (plugins.has(id) && existsSync(settings))
      await cp(settings, join(to, 'documents', id, 'settings', 'global'), { recursive: true });
  }
}

interface Bounds {
  readonly distractors: number;
  readonly seed: number;
  readonly tools: readonly string[];
}

function chooseCases(
  { host, owner }: TrialHost,
  plugins: readonly Plugin[],
  chosen: ReadonlySet<string>,
  { distractors, seed, tools: named }: Bounds,
): readonly EvaluationCase[] {
  const tools = host.resolve(Tools).list();
  const own = tools.filter(({ plugin }) => chosen.has(plugin));
  for (const name of named)
    if (!own.some((tool) => tool.name === name))
      throw new UserError(`There is no tool "${name}". There are: ${own.map((tool) => tool.name).join(', ')}.`);
  const cases = casesOf(
    tools,
    plugins.map(({ manifest, evaluations }) => ({ plugin: manifest.id, evaluations })),
    {
      memberId: owner.userId,
      channelId: owner.channelId,
      guildId: owner.guildId ?? owner.userId,
      roleId: owner.guildId ?? owner.userId,
      messageId: owner.channelId,
    },
    { distractors, seed, plugins: chosen, tools: new Set(named) },
  );
  if (cases.some(({ tool }) => tool !== undefined)) return cases;
  throw new UserError(
    own.length === 0
      ? `${[...chosen].join(', ')}: there are no tools to evaluate.`
      : "The tools have no examples: add what people say, examples: ['roll {count} dice'].",
  );
}

/** Prints a line after this many answers. */
const STEP = 25;

async function evaluateModel(
  { host, owner }: TrialHost,
  model: string | undefined,
  cases: readonly EvaluationCase[],
  { maxCost, say }: { readonly maxCost: number; readonly say: (line: string) => void },
): Promise<ModelReport> {
  const llm = host.resolve(Llm);
  const traits = await llm.traits(model);
  if (traits.provider === 'offline' && model === undefined)
    throw new UserError(
      'No language model is set up: set the key of one, such as ANTHROPIC_API_KEY, or name one with --model. What there is now matches the examples word by word.',
    );
  const bound =
    traits.price === undefined ? 'its price is not known, so --max-cost cannot hold' : `at most ${formatUsd(maxCost)}`;
  say(`asking ${traits.model} ${cases.length} times: ${bound}`);
  const answers = await evaluate(cases, {
    llm,
    model,
    tools: host.resolve(Tools).list(),
    actor: owner,
    maxCost,
    onAnswer: (answered) => {
      if (answered % STEP === 0) say(`${answered} of ${cases.length}`);
    },
  });
  return reportOf(traits, answers, cases.length - answers.length);
}
