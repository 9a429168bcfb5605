import {
  type AccessRule,
  type AccessRules,
  EVERYTHING,
  type ImportFindings,
  operatorSentenceOf,
  type Prefixes,
  type TierRoles,
} from '@cinnabar/sdk';
import { sameSlot } from '../../../access/rules.js';
import type { GuildStates } from '../../../contracts.js';
import { type GuildDirectory, nameIn } from '../../../guild-file/directory.js';
import type { StoredSettings } from '../../../storage/storage.js';
import { pluginsFor, targetForCommand, targetsForCog } from './names.js';
import { dataOf, type RedData, recordOf } from './red-data.js';

type Subject = AccessRule['subject'];

/** The services that write the choices of a guild's admins. */
export interface GuildChoices extends ImportFindings {
  readonly guildId: string;
  readonly directory: GuildDirectory;
  readonly states: GuildStates;
  readonly prefixes: Prefixes;
  readonly tierRoles: TierRoles;
  readonly accessRules: AccessRules;
  /** The settings of the plugin that keeps the language of servers. */
  readonly language: StoredSettings | undefined;
  /** Ids of the installed plugins, and whether each can be switched off. */
  readonly plugins: ReadonlyMap<string, { readonly required: boolean }>;
}

/** Imports the data of Red's core and its Permissions cog about a guild. */
export async function importChoices(red: RedData, parts: GuildChoices): Promise<void> {
  const { guildId, directory } = parts;
  const isOfGuild = (id: string) => directory.channels.some((channel) => channel.id === id);
  const core = dataOf(red.core, guildId, isOfGuild);
  const guild = recordOf(core?.guild);
  for (const [key, value] of Object.entries(guild)) await importKey(key, value, guild, parts);
  for (const [channel, values] of Object.entries(core?.channels ?? {}))
    for (const [key, value] of Object.entries(recordOf(values))) {
      const place = { kind: 'channel', id: channel } as const;
      if (key === 'ignored' && value === true)
        await addGuildRule({ effect: 'deny', target: EVERYTHING, subject: place }, 'ignored channel', parts);
      else if (key !== 'ignored') parts.leftOut(`${key} of ${named(channel, parts)}`, whyNot(key));
    }
  for (const [cog, ofGuilds] of Object.entries(recordOf(red.core.groups.COG_DISABLE_SETTINGS))) {
    const { disabled } = recordOf(recordOf(ofGuilds)[guildId]);
    if (typeof disabled === 'boolean') await switchCog(cog, !disabled, parts);
  }
  const permissions = red.cogs.find(({ name }) => name === 'Permissions');
  for (const kind of RULE_KINDS)
    for (const [name, ofGuilds] of Object.entries(recordOf(permissions?.groups[kind]))) {
      const rules = recordOf(recordOf(ofGuilds)[guildId]);
      await importRules(kind, name, rules, parts);
    }
}

const idsOf = (value: unknown): readonly string[] =>
  Array.isArray(value) ? value.map(String).filter((id) => /^\d{15,22}$/.test(id)) : [];
const textsOf = (value: unknown): readonly string[] =>
  Array.isArray(value) ? value.filter((item) => typeof item === 'string') : [];

const named = (id: string, { directory }: GuildChoices) => {
  const name = nameIn(directory, id);
  return name === undefined ? id : `${id} (${name})`;
};

async function importKey(
  key: string,
  value: unknown,
  guild: Readonly<Record<string, unknown>>,
  parts: GuildChoices,
): Promise<void> {
  switch (key) {
    case 'prefix':
      return importPrefixes(textsOf(value), parts);
    case 'admin_role':
    case 'mod_role':
      return importTierRoles(key === 'admin_role' ? 'admin' : 'mod', idsOf(value), parts);
    case 'blacklist':
      for (const id of idsOf(value))
        await addGuildRule({ effect: 'deny', target: EVERYTHING, subject: subjectOf(id, parts) }, 'blocklist', parts);
      return;
    case 'whitelist':
      if (idsOf(value).length === 0) return;
      await addGuildRule({ effect: 'deny', target: EVERYTHING, subject: { kind: 'everyone' } }, 'allowlist', parts);
      for (const id of idsOf(value))
        await addGuildRule({ effect: 'allow', target: EVERYTHING, subject: subjectOf(id, parts) }, 'allowlist', parts);
      return;
    case 'ignored':
      if (value === true)
        await addGuildRule(
          { effect: 'deny', target: EVERYTHING, subject: { kind: 'everyone' } },
          'ignored server',
          parts,
        );
      return;
    case 'disabled_commands':
      for (const command of textsOf(value)) {
        const target = targetForCommand(command);
        const what = `disabled command ${command}`;
        if (target === undefined) parts.leftOut(what, 'no command here does the same');
        else await addGuildRule({ effect: 'deny', target, subject: { kind: 'everyone' } }, what, parts);
      }
      return;
    case 'locale':
      return importLocale(value, parts);
    default:
      parts.leftOut(`${key} = ${JSON.stringify(guild[key])}`, whyNot(key));
  }
}

async function importTierRoles(tier: 'mod' | 'admin', ids: readonly string[], parts: GuildChoices): Promise<void> {
  for (const id of ids) {
    const what = `${tier === 'mod' ? 'moderator' : 'admin'} role ${named(id, parts)}`;
    try {
      if (await parts.tierRoles.add(parts.guildId, tier, id)) parts.taken(what);
      else parts.present(what);
    } catch (error) {
      parts.leftOut(what, operatorSentenceOf(error) ?? String(error));
    }
  }
}

const REASONS: Readonly<Record<string, string>> = {
  embeds: 'answers are plain text here, and cards where there is something to press',
  use_bot_color: 'answers have no colour to choose here',
  fuzzy: 'an unknown command always gets a "did you mean" here',
  autoimmune_ids: 'automod has its own exceptions: set automod',
  delete_delay: 'commands of members are not deleted here',
  regional_format: 'dates follow the language here',
};
const whyNot = (key: string): string =>
  (Object.hasOwn(REASONS, key) ? REASONS[key] : undefined) ?? 'nothing here does the same';

async function importPrefixes(
  wanted: readonly string[],
  { guildId, states, prefixes, ...findings }: GuildChoices,
): Promise<void> {
  if (wanted.length === 0) return;
  const isChosen = (await states.load(guildId)).prefixes !== undefined;
  const before = prefixes.get(guildId);
  let added = 0;
  for (const prefix of wanted) {
    if (prefixes.get(guildId).includes(prefix)) {
      added += 1;
      findings.present(`prefix ${prefix}`);
      continue;
    }
    try {
      await prefixes.add(guildId, prefix);
      added += 1;
      findings.taken(`prefix ${prefix}`);
    } catch (error) {
      findings.leftOut(`prefix "${prefix}"`, operatorSentenceOf(error) ?? String(error));
    }
  }
  // As in Red, a server's own prefixes replace those of the bot, unless an admin has already chosen prefixes here.
  if (isChosen || added === 0) return;
  for (const prefix of before) if (!wanted.includes(prefix)) await prefixes.remove(guildId, prefix);
}

async function importLocale(value: unknown, { guildId, language, ...findings }: GuildChoices): Promise<void> {
  if (typeof value !== 'string') return;
  const what = `locale ${value}`;
  const [locale = ''] = value.split('-');
  const before = (await language?.get('guild', guildId))?.language;
  if (language === undefined) return findings.leftOut(what, 'the plugin that keeps languages does not run');
  if (before === locale) return findings.present(what);
  if (before !== undefined)
    return findings.leftOut(what, `the language of the server is ${String(before)} here already`);
  const problem = await language.problemOf('guild', guildId, { language: locale });
  if (problem !== undefined) return findings.leftOut(what, problem.detail);
  await language.set('guild', guildId, { language: locale });
  findings.taken(what);
}

async function switchCog(
  cog: string,
  on: boolean,
  { guildId, states, plugins, ...findings }: GuildChoices,
): Promise<void> {
  const what = `cog ${cog} switched ${on ? 'on' : 'off'}`;
  const ids = pluginsFor(cog).filter((id) => plugins.get(id)?.required === false);
  if (ids.length === 0) return findings.leftOut(what, 'no plugin here does the same');
  for (const id of ids) {
    const chosen = (await states.load(guildId)).plugins[id];
    if (chosen === on) findings.present(`${what}: the plugin ${id}`);
    else if (chosen !== undefined)
      findings.leftOut(what, `the plugin ${id} was switched ${chosen ? 'on' : 'off'} here`);
    else {
      await states.update(guildId, (draft) => ({ ...draft, plugins: { ...draft.plugins, [id]: on } }));
      findings.taken(`${what}: the plugin ${id}`);
    }
  }
}

function subjectOf(id: string, { directory, guildId }: Pick<GuildChoices, 'directory' | 'guildId'>): Subject {
  if (id === 'default' || id === guildId) return { kind: 'everyone' };
  if (directory.roles.some((role) => role.id === id)) return { kind: 'role', id };
  const channel = directory.channels.find((one) => one.id === id);
  if (channel !== undefined) return { kind: channel.isCategory ? 'category' : 'channel', id };
  return { kind: 'user', id };
}

type RuleKind = 'COG' | 'COMMAND';
export const RULE_KINDS: readonly RuleKind[] = ['COG', 'COMMAND'];

/** The targets here for Red's rules about a cog or command. */
export function targetsOf(kind: RuleKind, name: string): readonly AccessRule['target'][] {
  const target = kind === 'COMMAND' ? targetForCommand(name) : undefined;
  if (kind === 'COG') return targetsForCog(name);
  return target === undefined ? [] : [target];
}

/** Imports the rules that apply in one server. */
export async function importRules(
  kind: RuleKind,
  name: string,
  rules: Readonly<Record<string, unknown>>,
  parts: GuildChoices,
): Promise<void> {
  const targets = targetsOf(kind, name);
  for (const [model, allowed] of Object.entries(rules)) {
    const subject = subjectOf(model, parts);
    const about = subject.id === undefined ? 'everyone' : `${subject.kind} ${named(subject.id, parts)}`;
    const effect = allowed === true ? 'allow' : 'deny';
    const what = `rule: ${effect} the ${kind.toLowerCase()} ${name} for ${about}`;
    const isClear = typeof allowed === 'boolean';
    if (!isClear || targets.length === 0)
      parts.leftOut(what, isClear ? NO_TARGET[kind] : 'it is neither allowed nor denied');
    else for (const one of targets) await addGuildRule({ effect, target: one, subject }, what, parts);
  }
}

export const NO_TARGET = { COG: 'no plugin here does the same', COMMAND: 'no command here does the same' } as const;

function addGuildRule(rule: AccessRule, why: string, parts: GuildChoices): Promise<void> {
  const { target, subject, effect } = rule;
  const about = subject.id === undefined ? subject.kind : `${subject.kind} ${named(subject.id, parts)}`;
  const what = `${why} → ${effect} ${target.kind === 'everything' ? 'everything' : `${target.kind} ${target.name}`}, ${about}`;
  return addRule(rule, parts.guildId, what, parts);
}

/** Adds a rule of a guild, or of the owner of the bot, unless a rule for the same subject and target exists. */
export async function addRule(
  rule: AccessRule,
  guildId: string | null,
  what: string,
  { accessRules, ...parts }: Pick<GuildChoices, 'accessRules' | keyof ImportFindings>,
): Promise<void> {
  const same = (await accessRules.list(guildId)).find((one) => sameSlot(one, rule));
  if (same?.effect === rule.effect) return parts.present(what);
  if (same !== undefined) return parts.leftOut(what, 'a rule here says the opposite');
  try {
    await accessRules.set(guildId, rule);
    parts.taken(what);
  } catch (error) {
    parts.leftOut(what, operatorSentenceOf(error) ?? String(error));
  }
}
