import { type AccessRule, t } from '@cinnabar/sdk';
import type { Case, RuleName } from './access.js';
import type { FoundRule } from './rules.js';
import { missingPermissions, permissionNames } from './visibility.js';

/** The remedy for a refusal: an action of the person concerned, with the exact command. */
const REMEDIES: Readonly<Record<RuleName, (of: Case) => string>> = {
  place: ({ request: { policy } }) =>
    policy.where === 'dm' ? t('Use it in a direct message to me.') : t('Use it in a server.'),
  'plugin-enabled': ({ subject, request: { plugin } }) =>
    subject.place === 'dm'
      ? t('The owner of the bot switches it on with `plugin default {plugin} on`.', { plugin })
      : t('An admin switches it on with `plugin enable {plugin}`.', { plugin }),
  ignored: ({ ignoring, subject: { userId } }) => (ignoring === undefined ? t('None.') : ofIgnoring(ignoring, userId)),
  'access-rule': ({ found }) => (found === undefined ? t('None.') : ofDenial(found)),
  tier: ofTier,
  'member-permissions': ({ subject: { memberPermissions, inThread }, request: { policy } }) =>
    t(
      'Give one of their roles {permissions} in this channel.',
      permissionNames(missingPermissions(memberPermissions, policy.member ?? [], inThread)),
    ),
  'bot-permissions': ({ subject: { botPermissions, inThread }, request: { policy } }) =>
    t(
      'Give one of my roles {permissions} in this channel.',
      permissionNames(missingPermissions(botPermissions, policy.bot ?? [], inThread)),
    ),
};

/** The remedy of a check that refuses. */
export function remedyFor(rule: RuleName, of: Case): string {
  return REMEDIES[rule](of);
}

export const afterFailure = () => t('Try again. If the problem continues, look at the log of the bot.');
export const ofAbsent = () => t('They have to be in this server, and see this channel.');

/** An admin cannot grant what only owners may do. */
function ofTier({ subject, request: { kind, name, plugin, policy, isClosed } }: Case): string {
  if (isClosed === true) return t('An admin changes the setting: `set {plugin}` shows it.', { plugin });
  const needed = (subject.place === 'dm' ? policy.dmTier : undefined) ?? policy.tier;
  if (needed === 'botOwner') return t('None: it is for the owner of the bot.');
  if (subject.place === 'dm') return t('Use it in a server, where they are a moderator or an admin.');
  if (needed === 'guildOwner') return t('None: it is for the owner of the server.');
  // Buttons and menus follow the rules for their plugin.
  const what = argumentFor(kind === 'component' ? { kind: 'plugin', name: plugin } : { kind, name });
  return t('An admin allows it with `access allow {what} {who}`, or for a whole role with `roles {tier} add`.', {
    what,
    who: `<@${subject.userId}>`,
    tier: needed === 'admin' ? 'admin' : 'mod',
  });
}

function ofDenial({ level, rule: { target, subject } }: FoundRule): string {
  const values = { what: argumentFor(target), who: whoFor(subject) };
  return level === 'owner'
    ? t('The owner of the bot takes the rule back with `access global clear {what} {who}`.', values)
    : t('An admin takes the rule back with `access clear {what} {who}`.', values);
}

function ofIgnoring({ level, rule: { subject } }: FoundRule, userId: string): string {
  const who = whoFor(subject);
  // A rule that denies everything to everyone makes a list of the members who are allowed: the remedy adds this one to the list.
  if (level === 'owner')
    return subject.kind === 'everyone' || subject.kind === 'guilds'
      ? t('The owner of the bot admits them with `access global allow everything {who}`.', { who: `<@${userId}>` })
      : t('The owner of the bot takes it back with `access global clear everything {who}`.', { who });
  if (subject.kind === 'everyone')
    return t('An admin admits them with `allowlist add {who}`.', { who: `<@${userId}>` });
  return subject.kind === 'user' || subject.kind === 'role'
    ? t('An admin takes it back with `block remove {who}`.', { who })
    : t('An admin takes it back with `ignore remove {who}`.', { who });
}

/** A target in the form that the commands of `access` parse. */
function argumentFor({ kind, name }: AccessRule['target']): string {
  const full = kind === 'command' || kind === 'everything' ? name : `${kind}:${name}`;
  return full.includes(' ') ? `"${full}"` : full;
}

const WHO: Readonly<Record<AccessRule['subject']['kind'], (id: string) => string>> = {
  user: (id) => `<@${id}>`,
  role: (id) => `<@&${id}>`,
  channel: (id) => `<#${id}>`,
  category: (id) => `<#${id}>`,
  guild: (id) => `server:${id}`,
  guilds: () => 'servers',
  everyone: () => 'everyone',
};

/** The subject of a rule in the form that the commands of `access` parse. */
const whoFor = ({ kind, id = '' }: AccessRule['subject']) => WHO[kind](id);
