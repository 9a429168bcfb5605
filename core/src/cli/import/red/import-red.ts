import { join, resolve } from 'node:path';
import {
  type AccessRule,
  type AccessRules,
  type ErasedImporter,
  EVERYTHING,
  type ForeignData,
  type ImportFindings,
  operatorSentenceOf,
  replaceFile,
  textOfRuleSubject,
  UserError,
  visible,
} from '@cinnabar/sdk';
import { createAccessRules, createTierRoles } from '../../../access/rules.js';
import type { HostConfig } from '../../../config/host-config.js';
import type { OwnerState } from '../../../contracts.js';
import { createPrefixes } from '../../../gateway/guild-states.js';
import { onStoppedData, type StoppedData } from '../../stopped-data.js';
import { addRule, type GuildChoices, importChoices, importRules, NO_TARGET, RULE_KINDS, targetsOf } from './choices.js';
import { lineHere, pluginsFor, targetForCommand } from './names.js';
import { dataOf, EVERYWHERE, guildsIn, outsideGuilds, type RedData, readRedData, recordOf } from './red-data.js';

interface Surroundings {
  readonly stdout: Pick<NodeJS.WritableStream, 'write'>;
  readonly stderr: Pick<NodeJS.WritableStream, 'write'>;
  readonly cwd: () => string;
}

/**
 * `cinnabar import red DIR`: imports the servers of a Red-DiscordBot from its data folder, while the bot here is stopped. Red's folder is only read. A repeated
 * import does not change data that exist here.
 * @returns the exit code
 * @throws UserError when the import is impossible
 */
export async function runRedImport(
  [folder, ...others]: readonly string[],
  { dryRun }: { readonly dryRun: boolean },
  config: HostConfig,
  { stdout, stderr, cwd }: Surroundings,
): Promise<number> {
  if (folder === undefined || others.length > 0) throw new UserError('It is "import red DIR".');
  if (config.token === undefined)
    throw new UserError(
      'DISCORD_TOKEN has to be set: Red keeps ids, and Discord says which are roles, channels and members.',
    );
  const red = readRedData(resolve(cwd(), folder));
  const onProblem = (problem: string) => void stderr.write(`${problem}\n`);
  const sections = await onStoppedData(config, { onProblem, dryRun }, async (data) => {
    const ofGuilds: ImportedGuild[] = [];
    for (const guildId of guildsIn(red)) ofGuilds.push(await importGuild(red, guildId, data, config));
    const { section, of } = createSection('All servers');
    await importEverywhere(red, {
      ...of('Core'),
      accessRules: createAccessRules(data.states, data.ownerState),
      ownerState: data.ownerState,
      plugins: switchable(data),
      guilds: ofGuilds.flatMap(({ choices }) => choices ?? []),
    });
    return [...ofGuilds.map((one) => one.section), section].filter(isTold);
  });
  const text = reportText(red, sections, dryRun);
  stdout.write(text);
  if (dryRun) return 0;
  const file = join(config.dataDir, 'import-red.txt');
  await replaceFile(file, text);
  stdout.write(`\nThis report is kept in ${file}.\n`);
  return 0;
}

/** The result of importing one server's data. */
interface Section {
  readonly title: string;
  readonly taken: readonly string[];
  readonly present: readonly string[];
  readonly leftOut: readonly string[];
}

const isTold = ({ taken, present, leftOut }: Section) => taken.length + present.length + leftOut.length > 0;

interface ImportedGuild {
  readonly section: Section;
  /** Where rules for all servers are written to; absent for a server that the bot is not in. */
  readonly choices?: GuildChoices;
}

const switchable = ({ plugins }: StoppedData): GuildChoices['plugins'] =>
  new Map(plugins.map(({ manifest: { id, required = false } }) => [id, { required }]));

function createSection(title: string): { readonly section: Section; of(part: string): ImportFindings } {
  const section = { title, taken: [] as string[], present: [] as string[], leftOut: [] as string[] };
  return {
    section,
    of: (part) => ({
      taken: (what) => void section.taken.push(`${part}: ${what}`),
      present: (what) => void section.present.push(`${part}: ${what}`),
      leftOut: (what, why) => void section.leftOut.push(`${part}: ${what}: ${why}`),
    }),
  };
}

async function importGuild(
  red: RedData,
  guildId: string,
  data: StoppedData,
  config: HostConfig,
): Promise<ImportedGuild> {
  const { states, ownerState, storage } = data;
  const directory = await data.directory(guildId).catch((error: unknown) => String(error));
  if (directory === undefined || typeof directory === 'string') {
    const { section, of } = createSection(`Server ${guildId}`);
    of('All').leftOut(
      'everything of it',
      `the bot is not in this server, or Discord cannot be asked (${directory}): invite it, then import again`,
    );
    return { section };
  }
  const { section, of } = createSection(`Server ${guildId} (${directory.name})`);
  await states.load(guildId);
  const choices: GuildChoices = {
    ...of('Core'),
    guildId,
    directory,
    states,
    prefixes: createPrefixes(states, config.prefixes, config.ownPrefixes),
    tierRoles: createTierRoles(states),
    accessRules: createAccessRules(states, ownerState),
    language: storage.opened().find(({ plugin }) => plugin.manifest.id === 'admin')?.stored,
    plugins: switchable(data),
  };
  await importChoices(red, choices);
  const isOfGuild = (id: string) => [...directory.channels, ...directory.roles].some((one) => one.id === id);
  const importers = storage
    .opened()
    .flatMap((one) => one.plugin.importers.map((importer) => ({ importer, storage: one.storage })));
  for (const cog of red.cogs) {
    if (cog.name === 'Permissions') continue;
    const found = dataOf(cog, guildId, isOfGuild);
    if (found === undefined) continue;
    const findings = of(cog.name);
    const fitting = importers.filter(({ importer }) => importer.program === 'red' && importer.from === cog.name);
    if (fitting.length === 0) findings.leftOut(sizeOf(found), 'no plugin takes over the data of this cog');
    for (const { importer, storage: own } of fitting) {
      const known = readable(importer, found, findings);
      if (known === undefined) continue;
      await importer
        .run(known, { ...findings, ...own, guildId, lineHere, clock: data.clock, log: data.log, signal: NEVER })
        .catch((error: unknown) => findings.leftOut('the rest', operatorSentenceOf(error) ?? String(error)));
    }
  }
  return { section, choices };
}

const NEVER = new AbortController().signal;

const sizeOf = ({ guild = {}, members = {}, channels = {}, custom = {} }: ForeignData): string =>
  [
    ...Object.keys(guild),
    ...Object.entries({ members, channels, ...custom }).flatMap(([name, values]) => {
      const count = typeof values === 'object' && values !== null ? Object.keys(values).length : 1;
      return count === 0 ? [] : [`${count} ${name.toLowerCase()}`];
    }),
  ].join(', ');

/** The part of the data that an importer's schema accepts; the rest is reported. */
function readable({ data }: ErasedImporter, found: ForeignData, { leftOut }: ImportFindings): ForeignData | undefined {
  let left: unknown = found;
  const remove = (path: readonly PropertyKey[], why: string) => {
    const value = at(left, path);
    if (value === undefined || path.length === 0) return false;
    leftOut(`${path.map(String).join('.')} = ${short(value)}`, why);
    left = without(left, path);
    return true;
  };
  // Each round removes invalid values; a missing required value cannot be removed.
  for (let round = 0; round < MOST_ROUNDS; round += 1) {
    const parsed = data.safeParse(left);
    if (parsed.success) return recordFrom(left);
    const removed = parsed.error.issues.map((issue) =>
      issue.code === 'unrecognized_keys'
        ? issue.keys.map((key) => remove([...issue.path, key], 'nothing here does the same')).includes(true)
        : remove(issue.path, `it is not what Red keeps there (${issue.message})`),
    );
    if (!removed.includes(true)) break;
  }
  leftOut(sizeOf(found), 'it is not what Red keeps there');
  return undefined;
}

const MOST_ROUNDS = 20;
const LONGEST = 120;

function short(value: unknown): string {
  const text = JSON.stringify(value) ?? 'nothing';
  return text.length > LONGEST ? `${text.slice(0, LONGEST)}…` : text;
}

function recordFrom(value: unknown): ForeignData {
  return typeof value === 'object' && value !== null ? value : {};
}

function at(value: unknown, path: readonly PropertyKey[]): unknown {
  const [key, ...rest] = path;
  if (key === undefined) return value;
  if (typeof value !== 'object' || value === null) return undefined;
  return at(new Map(Object.entries(value)).get(String(key)), rest);
}

/** A copy without the value at a path. */
function without(value: unknown, [key, ...rest]: readonly PropertyKey[]): unknown {
  if (typeof value !== 'object' || value === null) return value;
  const kept = Object.entries(value).flatMap(([name, part]) => {
    if (name !== String(key)) return [[name, part] as const];
    return rest.length === 0 ? [] : [[name, without(part, rest)] as const];
  });
  return Array.isArray(value) ? kept.map(([, part]) => part) : Object.fromEntries(kept);
}

const SECRET_KEYS = new Set(['token']);

/** The report, which mentions each part of Red's data once. */
function reportText(red: RedData, sections: readonly Section[], dryRun: boolean): string {
  const global = [red.core, ...red.cogs].flatMap(outsideGuilds);
  const secrets = Object.keys(recordFrom(red.core.groups.GLOBAL)).some((key) => SECRET_KEYS.has(key))
    ? ['Core: token, and the keys of SHARED_API_TOKENS: secrets are never taken over; set them as variables here']
    : [];
  const part = (title: string, lines: readonly string[]) =>
    lines.length === 0 ? [] : [`  ${title}:`, ...lines.map((line) => `    ${visible(line)}`)];
  const blocks = sections.map(({ title, taken, present, leftOut }) =>
    [
      visible(title),
      ...part(dryRun ? 'Would be taken over' : 'Taken over', taken),
      ...part('Here already', present),
      ...part('Left out', leftOut),
    ].join('\n'),
  );
  const rest = part('Left out', [...secrets, ...global, ...red.problems]);
  if (rest.length > 0) blocks.push(['Of no server', ...rest].join('\n'));
  return `${blocks.join('\n\n')}\n`;
}

/** The services that write what applies in all servers of Red. */
interface GlobalChoices extends ImportFindings {
  readonly accessRules: AccessRules;
  readonly ownerState: OwnerState;
  readonly plugins: GuildChoices['plugins'];
  /** The services that write the choices of each server that the bot is in. */
  readonly guilds: readonly GuildChoices[];
}

/**
 * Imports the choices of Red's owner for all servers as rules of the bot's owner. These override the rules of servers. So rules that Red evaluates last (its
 * default rules and those about a server, a role or a channel) become rules of the servers concerned.
 */
async function importEverywhere(red: RedData, parts: GlobalChoices): Promise<void> {
  const { blacklist, whitelist, disabled_commands: disabled } = recordOf(red.core.groups.GLOBAL);
  for (const id of listOf(blacklist)) await deny('blocklist', { kind: 'user', id }, parts);
  const admitted = listOf(whitelist);
  if (admitted.length > 0) await deny('allowlist', { kind: 'everyone' }, parts);
  for (const id of admitted)
    await addOwnRule({ effect: 'allow', target: EVERYTHING, subject: { kind: 'user', id } }, 'allowlist', parts);
  for (const name of listOf(disabled)) {
    const target = targetForCommand(name);
    const what = `disabled command ${name}`;
    if (target === undefined) parts.leftOut(what, NO_TARGET.COMMAND);
    else await addOwnRule({ effect: 'deny', target, subject: { kind: 'everyone' } }, what, parts);
  }
  for (const [cog, ofGuilds] of Object.entries(recordOf(red.core.groups.COG_DISABLE_SETTINGS))) {
    const { disabled: isOff } = recordOf(recordOf(ofGuilds)[EVERYWHERE]);
    if (typeof isOff === 'boolean') await setDefault(cog, !isOff, parts);
  }
  const permissions = red.cogs.find(({ name }) => name === 'Permissions');
  for (const kind of RULE_KINDS)
    for (const [name, ofGuilds] of Object.entries(recordOf(permissions?.groups[kind])))
      for (const [model, allowed] of Object.entries(recordOf(recordOf(ofGuilds)[EVERYWHERE])))
        await importRule({ kind, name, model, allowed }, parts);
}

const listOf = (value: unknown): readonly string[] => (Array.isArray(value) ? value.map(String) : []);

const deny = (why: string, subject: AccessRule['subject'], parts: GlobalChoices) =>
  addOwnRule({ effect: 'deny', target: EVERYTHING, subject }, why, parts);

interface RedRule {
  readonly kind: (typeof RULE_KINDS)[number];
  readonly name: string;
  /** An id, or `default`. */
  readonly model: string;
  readonly allowed: unknown;
}

async function importRule({ kind, name, model, allowed }: RedRule, parts: GlobalChoices): Promise<void> {
  const { guilds, leftOut } = parts;
  const what = `rule for all servers: ${allowed === true ? 'allow' : 'deny'} the ${kind.toLowerCase()} ${name} for ${model}`;
  if (typeof allowed !== 'boolean') return leftOut(what, 'it is neither allowed nor denied');
  const isIn = ({ directory, guildId }: GuildChoices) =>
    guildId === model || [...directory.roles, ...directory.channels].some(({ id }) => id === model);
  const concerned = model === 'default' ? guilds : guilds.filter(isIn);
  if (concerned.length > 0) {
    for (const guild of concerned) await importRules(kind, name, { [model]: allowed }, guild);
    return;
  }
  if (model === 'default') return leftOut(what, 'the bot is in none of the servers: invite it, then import again');
  if (!/^\d{15,22}$/.test(model)) return leftOut(what, 'it is for no id of Discord');
  const targets = targetsOf(kind, name);
  if (targets.length === 0) return leftOut(what, NO_TARGET[kind]);
  const effect = allowed ? 'allow' : 'deny';
  for (const target of targets) await addOwnRule({ effect, target, subject: { kind: 'user', id: model } }, what, parts);
}

async function setDefault(
  cog: string,
  on: boolean,
  { ownerState, plugins, taken, present, leftOut }: GlobalChoices,
): Promise<void> {
  const what = `cog ${cog} ${on ? 'on' : 'off'} by default`;
  const ids = pluginsFor(cog).filter((id) => plugins.get(id)?.required === false);
  if (ids.length === 0) return leftOut(what, NO_TARGET.COG);
  for (const id of ids) {
    const chosen = ownerState.peek().plugins[id];
    if (chosen === on) present(`${what}: the plugin ${id}`);
    else if (chosen !== undefined)
      leftOut(what, `the plugin ${id} is ${chosen ? 'on' : 'off'} by default here already`);
    else {
      await ownerState.update((draft) => ({ ...draft, plugins: { ...draft.plugins, [id]: on } }));
      taken(`${what}: the plugin ${id}`);
    }
  }
}

function addOwnRule(rule: AccessRule, why: string, parts: GlobalChoices): Promise<void> {
  const { target, subject, effect } = rule;
  const about = target.kind === 'everything' ? 'everything' : `${target.kind} ${target.name}`;
  return addRule(rule, null, `${why} → ${effect} ${about} ${textOfRuleSubject(subject)}`, parts);
}
