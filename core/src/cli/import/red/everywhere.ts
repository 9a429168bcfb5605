import {
  type AccessRule,
  type AccessRules,
  EVERYTHING,
  type ImportFindings,
  operatorSentenceOf,
  textOfRuleSubject,
} from '@cinnabar/sdk';
import type { OwnerState } from '../../../contracts.js';
import { type ChoiceParts, importRules, NO_TARGET, RULE_KINDS, targetsOf } from './choices.js';
import { pluginsFor, targetForCommand } from './names.js';
import { EVERYWHERE, type RedData, recordOf } from './red-data.js';

/** What holds in all servers of Red is written with. */
export interface EverywhereParts extends ImportFindings {
  readonly accessRules: AccessRules;
  readonly ownerState: OwnerState;
  readonly plugins: ChoiceParts['plugins'];
  /** The servers that the bot is in, as the import of each writes to it. */
  readonly guilds: readonly ChoiceParts[];
}

/**
 * Takes over what Red's owner has chosen for all servers, as rules of the bot's owner. These stand above the rules of servers: what Red asks last, its
 * default rules and those about a server, a role or a channel, becomes the rules of the servers concerned.
 */
export async function importEverywhere(red: RedData, parts: EverywhereParts): Promise<void> {
  const { blacklist, whitelist, disabled_commands: disabled } = recordOf(red.core.groups.GLOBAL);
  for (const id of listOf(blacklist)) await deny('blocklist', { kind: 'user', id }, parts);
  const admitted = listOf(whitelist);
  if (admitted.length > 0) await deny('allowlist', { kind: 'everyone' }, parts);
  for (const id of admitted)
    await addRule({ effect: 'allow', target: EVERYTHING, subject: { kind: 'user', id } }, 'allowlist', parts);
  for (const name of listOf(disabled)) {
    const target = targetForCommand(name);
    const what = `disabled command ${name}`;
    if (target === undefined) parts.leftOut(what, NO_TARGET.COMMAND);
    else await addRule({ effect: 'deny', target, subject: { kind: 'everyone' } }, what, parts);
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

const deny = (why: string, subject: AccessRule['subject'], parts: EverywhereParts) =>
  addRule({ effect: 'deny', target: EVERYTHING, subject }, why, parts);

interface RedRule {
  readonly kind: (typeof RULE_KINDS)[number];
  readonly name: string;
  /** An id, or `default`. */
  readonly model: string;
  readonly allowed: unknown;
}

async function importRule({ kind, name, model, allowed }: RedRule, parts: EverywhereParts): Promise<void> {
  const { guilds, leftOut } = parts;
  const what = `rule for all servers: ${allowed === true ? 'allow' : 'deny'} the ${kind.toLowerCase()} ${name} for ${model}`;
  if (typeof allowed !== 'boolean') return leftOut(what, 'it is neither allowed nor denied');
  const isIn = ({ directory, guildId }: ChoiceParts) =>
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
  for (const target of targets) await addRule({ effect, target, subject: { kind: 'user', id: model } }, what, parts);
}

async function setDefault(
  cog: string,
  on: boolean,
  { ownerState, plugins, taken, present, leftOut }: EverywhereParts,
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

async function addRule(
  rule: AccessRule,
  why: string,
  { accessRules, taken, present, leftOut }: EverywhereParts,
): Promise<void> {
  const { target, subject, effect } = rule;
  const about = target.kind === 'everything' ? 'everything' : `${target.kind} ${target.name}`;
  const what = `${why} → ${effect} ${about} ${textOfRuleSubject(subject)}`;
  const same = (await accessRules.list(null)).find(
    (one) =>
      one.target.kind === target.kind &&
      one.target.name === target.name &&
      one.subject.kind === subject.kind &&
      one.subject.id === subject.id,
  );
  if (same?.effect === effect) return present(what);
  if (same !== undefined) return leftOut(what, 'a rule here says the opposite');
  try {
    await accessRules.set(null, rule);
    taken(what);
  } catch (error) {
    leftOut(what, operatorSentenceOf(error) ?? String(error));
  }
}
