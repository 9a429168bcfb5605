import {
  type AccessRequest,
  type AccessRule,
  type Actor,
  type Clock,
  type Decision,
  type DecisionReason,
  type Identities,
  type Logger,
  stricterTier,
  TIERS,
  type Tier,
  t,
} from '@cinnabar/sdk';
import {
  type Client,
  PermissionFlagsBits,
  Team,
  TeamMemberMembershipState,
  TeamMemberRole,
  type User,
} from 'discord.js';
import type { AccessService, GuildStates, OwnerState } from '../contracts.js';
import { createPlaceResolver, outOfReach } from '../identities/identities.js';
import { afterFailure, ofAbsent, remedyFor } from './remedies.js';
import {
  decidingRule,
  type FoundRule,
  hasRulesAboutEverything,
  ignoringRule,
  type RuleLevels,
  textOfRule,
} from './rules.js';
import { type Absence, createMemberships, createSubjects, type Knowledge, type Subject } from './subjects.js';
import { missingPermissions, permissionNames } from './visibility.js';

export interface AccessDependencies {
  readonly client: Client;
  readonly states: GuildStates;
  readonly ownerState: Pick<OwnerState, 'peek'>;
  /** Called once the guild's state is loaded. */
  readonly pluginIn: (guildId: string | null, plugin: string) => PluginThere;
  /** User ids of the bot's owners; empty: the application's owner or team. */
  readonly owners: readonly string[];
  readonly identities: Pick<Identities, 'get' | 'standing'>;
  readonly clock: Clock;
  readonly log: Logger;
}

/** The state of a plugin in one guild that decisions use. */
interface PluginThere {
  /** Whether it is switched on. */
  readonly enabled: boolean;
  /** Whether it can never be switched off. The server's owner can then use its commands whatever the rules say, in order to correct the rules. */
  readonly required: boolean;
}

type MaybeLater<T> = T | Promise<T>;

/** Builds the only authorization path. A denial overrides a permission, and an error during a check counts as a denial. */
export function createAccess(parts: AccessDependencies): AccessService {
  const { client, states, ownerState, pluginIn, clock, log } = parts;
  const owners = createOwners(parts);
  const memberships = createMemberships(client, clock);
  const subjects = createSubjects(parts, owners.has, memberships);
  const places = createPlaceResolver(parts);

  const failedCheck = (rule: string, error: unknown): DecisionReason => {
    log.error('an access check failed, so the answer was no', { rule, error });
    return { rule, allowed: false, text: t('it could not be checked whether you may'), remedy: afterFailure() };
  };

  const orReason = (found: Subject | Absence): Subject | DecisionReason =>
    'because' in found ? ofAbsence(found) : found;

  // Synchronous when all data are in memory, so that a command does not cost a promise for each step.
  const subjectHere = (actor: Actor, knowledge: Knowledge): MaybeLater<Subject | DecisionReason> => {
    const failed = (error: unknown) => failedCheck('actor', error);
    try {
      const found = owners.settled()
        ? subjects.here(actor, knowledge)
        : owners.load().then(() => subjects.here(actor, knowledge));
      return found instanceof Promise ? found.then(orReason).catch(failed) : orReason(found);
    } catch (error) {
      return failed(error);
    }
  };

  const judged = (
    subject: Subject,
    { guildId, atMost }: Pick<Actor, 'guildId' | 'atMost'>,
    request: SettledRequest,
  ) => {
    try {
      return judge(subject, request, pluginIn(guildId, request.plugin), atMost);
    } catch (error) {
      return [failedCheck('policy', error)];
    }
  };

  /** The request with the tier that a setting may raise, or close to everyone. */
  const withTier = async (actor: Actor, request: AccessRequest): Promise<SettledRequest> => {
    const { tier = 'everyone', tierFrom } = request.policy;
    if (tierFrom === undefined) return request;
    const set = await tierFrom(actor);
    if (set === 'nobody') return { ...request, isClosed: true };
    return { ...request, policy: { ...request.policy, tier: stricterTier(tier, set) } };
  };

  // For an identity, or an actor in another place, the decision is made for the place where the call takes effect.
  const decideThere = async (actor: Actor, request: AccessRequest, knowledge: Knowledge): Promise<Decision> => {
    try {
      await owners.load();
      const place = await places.resolve(actor, request);
      if ('rule' in place) return refuse(place);
      const { userId, guildId, channelId, elsewhere } = place;
      const who = { userId, guildId, channelId: channelId ?? actor.channelId };
      const subject = elsewhere ? await subjects.elsewhere(place, knowledge) : await subjects.here(who, knowledge);
      // A refusal must reveal nothing about a place that the actor cannot see.
      if ('because' in subject) return refuse(elsewhere ? outOfReach() : ofAbsence(subject));
      const there = { ...actor, guildId, channelId: who.channelId };
      return conclude(judged(subject, there, await withTier(there, request)));
    } catch (error) {
      return refuse(failedCheck('reach', error));
    }
  };

  const decideWith = async (actor: Actor, request: AccessRequest, knowledge: Knowledge): Promise<Decision> => {
    if (actor.identity !== undefined || request.at !== undefined) return decideThere(actor, request, knowledge);
    const found = subjectHere(actor, knowledge);
    const subject = found instanceof Promise ? await found : found;
    if ('rule' in subject) return refuse(subject);
    if (request.policy.tierFrom === undefined) return conclude(judged(subject, actor, request));
    try {
      return conclude(judged(subject, actor, await withTier(actor, request)));
    } catch (error) {
      return refuse(failedCheck('tier', error));
    }
  };

  const mayIgnore = (guildId: string | null) =>
    hasRulesAboutEverything(ownerState.peek().accessRules) ||
    (guildId !== null && hasRulesAboutEverything(states.peek(guildId)?.accessRules ?? []));

  const isIgnored = (actor: Actor): MaybeLater<boolean> => {
    if (owners.has(actor.userId)) return false;
    const levels = {
      owner: ownerState.peek().accessRules,
      guild: actor.guildId === null ? [] : (states.peek(actor.guildId)?.accessRules ?? []),
    };
    const position = subjects.positionOf(actor, levels);
    return position instanceof Promise
      ? position.then((found) => ignoringRule(levels, found) !== undefined)
      : ignoringRule(levels, position) !== undefined;
  };

  return {
    decide: (actor, request) => decideWith(actor, request, 'recent'),
    decideListed: (actor, request) => decideWith(actor, request, 'listed'),
    mayIgnore,
    ignores(actor) {
      if (!mayIgnore(actor.guildId)) return false;
      return owners.settled() ? isIgnored(actor) : owners.load().then(() => isIgnored(actor));
    },
    async decideFresh(actor, request) {
      // Code that runs after this check resolves each place anew, once.
      memberships.forget(actor.userId);
      if (actor.identity !== undefined)
        for (const userId of await places.usersBehind(actor.identity)) memberships.forget(userId);
      return decideWith(actor, request, 'fresh');
    },
    async mayEnter(actor, at, permissions = []) {
      const place = await places.visiblePlace(actor, at);
      return place !== undefined && (await subjects.mayEnter(place, permissions));
    },
    membershipsAreLive: memberships.live,
    actorAt: places.actorAt,
    modeOf: places.modeOf,
    async tierOf(actor) {
      // An agent has no tier: what it may do depends on the grant for each call.
      if (actor.identity !== undefined) return 'everyone';
      const subject = await subjectHere(actor, 'recent');
      return 'rule' in subject ? 'everyone' : lower(tierIn(subject), actor.atMost);
    },
    isOwner: owners.has,
    async owners() {
      await owners.load();
      return owners.ids();
    },
  };
}

const refuse = (reason: DecisionReason): Decision => ({ allowed: false, reasons: [reason] });

const IGNORED = 'ignored' satisfies RuleName;

function conclude(reasons: readonly DecisionReason[]): Decision {
  const allowed = reasons.every((reason) => reason.allowed === true);
  const ignored = !allowed && reasons.some((reason) => reason.rule === IGNORED);
  return ignored ? { allowed, reasons, ignored } : { allowed, reasons };
}

const ofAbsence = ({ because }: Absence): DecisionReason => ({
  rule: 'actor',
  allowed: false,
  text: because,
  remedy: ofAbsent(),
});

/** Every denying reason of a decision in one clause, for the `{reasons}` of a coded error. */
export function refusalReasons(decision: Decision): string {
  const denying = decision.reasons.filter((reason) => !reason.allowed).map((reason) => reason.text);
  return denying.length === 0 ? t('no rule allows it') : denying.join('; ');
}

const RETRY_AFTER_MS = 30_000;
/** How long Discord's answer about the owners is used. */
const HOLDS_MS = 60 * 60_000;

/** The bot's owners: the configured ones, otherwise the owner or the team of the application. */
function createOwners({ client, owners: configured, clock, log }: AccessDependencies) {
  let ids: ReadonlySet<string> = new Set(configured);
  let known = configured.length > 0;
  let retryAt = 0;
  let askAgainAt = configured.length > 0 ? Number.POSITIVE_INFINITY : 0;
  let asking: Promise<void> | undefined;

  const ask = async () => {
    try {
      const application = await client.application?.fetch();
      if (application === undefined) return;
      ids = new Set(ownerIds(application.owner));
      known = true;
      askAgainAt = clock.now() + HOLDS_MS;
    } catch (error) {
      retryAt = clock.now() + RETRY_AFTER_MS;
      askAgainAt = clock.now() + HOLDS_MS;
      if (known) return log.info('Discord did not say again who owns the bot; what it said before holds', { error });
      log.warn("Discord did not say who owns the bot; until it does, no user counts as the bot's owner", { error });
    } finally {
      asking = undefined;
    }
  };

  const settled = () => {
    if (!known) return clock.now() < retryAt;
    // A person who has left the team is no longer an owner. Until Discord has answered, its last answer is used.
    if (clock.now() >= askAgainAt) asking ??= ask();
    return true;
  };

  return {
    has: (userId: string) => ids.has(userId),
    ids: (): readonly string[] => [...ids],
    /** Whether there is nothing to wait for: the owners are known, or Discord has just failed to answer. */
    settled,
    /**
     * Requests the owners from Discord, if necessary. Never rejects: until Discord answers, no user is an owner. Repeats a failed request after 30 s at the
     * earliest.
     */
    load(): Promise<void> {
      if (settled()) return Promise.resolve();
      asking ??= ask();
      return asking;
    },
  };
}

/** Members of a team count when they have accepted and may change the application. */
function ownerIds(owner: User | Team | null): readonly string[] {
  if (owner === null) return [];
  if (!(owner instanceof Team)) return [owner.id];
  return owner.members
    .filter((member) => member.membershipState === TeamMemberMembershipState.Accepted)
    .filter((member) => member.role !== TeamMemberRole.ReadOnly)
    .map((member) => member.id);
}

/** A request with the tier that applies to it. */
interface SettledRequest extends AccessRequest {
  /** A setting refuses it to everyone. */
  readonly isClosed?: boolean;
}

/** The facts on which a decision depends. */
export interface Case {
  readonly subject: Subject;
  readonly request: SettledRequest;
  readonly plugin: PluginThere;
  /** The rule that makes the bot ignore the subject here. */
  readonly ignoring: FoundRule | undefined;
  /** The access rule that decides about the request, if one applies. */
  readonly found: FoundRule | undefined;
  readonly atMost: Tier | undefined;
}

/** One check. `undefined`: the request does not need it. */
interface Check {
  readonly rule: RuleName;
  look(of: Case): Omit<DecisionReason, 'rule'> | undefined;
}

/** Data for a check, by the names that reasons use. */
export type RuleName =
  | 'place'
  | 'plugin-enabled'
  | 'ignored'
  | 'access-rule'
  | 'tier'
  | 'member-permissions'
  | 'bot-permissions';

/** Every check, in the order in which the reasons are shown. */
const CHECKS: readonly Check[] = [
  {
    rule: 'place',
    look({ subject, request: { policy } }) {
      if (policy.where === undefined || policy.where === 'anywhere') return undefined;
      const isServer = policy.where === 'guild';
      return policy.where === subject.place
        ? { allowed: true, text: isServer ? t('this is in a server') : t('this is in a direct message') }
        : {
            allowed: false,
            text: isServer ? t('this only works in a server') : t('this only works in a direct message'),
          };
    },
  },
  {
    rule: 'plugin-enabled',
    look({ request, plugin: { enabled } }) {
      return enabled
        ? { allowed: true, text: t('the plugin "{plugin}" is switched on here', { plugin: request.plugin }) }
        : { allowed: false, text: t('the plugin "{plugin}" is switched off here', { plugin: request.plugin }) };
    },
  },
  {
    rule: IGNORED,
    look: ({ ignoring }) => (ignoring === undefined ? undefined : { allowed: false, text: textOfRule(ignoring) }),
  },
  {
    rule: 'access-rule',
    look: ({ found }) =>
      found === undefined ? undefined : { allowed: found.rule.effect === 'allow', text: textOfRule(found) },
  },
  {
    rule: 'tier',
    look({ subject, request: { policy, isClosed }, found, atMost }) {
      if (isClosed === true) return { allowed: false, text: t('a setting allows no one to use this here') };
      const needed = (subject.place === 'dm' ? policy.dmTier : undefined) ?? policy.tier ?? 'everyone';
      if (needed === 'everyone') return { allowed: true, text: t('everyone may use this') };
      if (atMost !== undefined && !reaches(atMost, needed)) {
        const [maker, most] = [tierName(atMost), tierName(needed)];
        return {
          allowed: false,
          text: t('this is for {most}, and the alias was made by {maker}: type the command itself', { most, maker }),
        };
      }
      const actual = tierIn(subject);
      if (reaches(actual, needed)) return { allowed: true, text: t('you are {tier}', { tier: tierName(actual) }) };
      // An admin cannot grant what only owners may do.
      if (found?.rule.effect === 'allow' && reaches('admin', needed)) {
        return { allowed: true, text: t('that rule admits you without being {tier}', { tier: tierName(needed) }) };
      }
      const tiers = { needed: tierName(needed), actual: tierName(actual) };
      return { allowed: false, text: t('you need to be at least {needed} here, and you are {actual}', tiers) };
    },
  },
  {
    rule: 'member-permissions',
    look({ subject, request: { policy } }) {
      if (policy.member === undefined || policy.member.length === 0) return undefined;
      const missing = missingPermissions(subject.memberPermissions, policy.member, subject.inThread);
      return missing.length === 0
        ? { allowed: true, text: t('you have {permissions} in this channel', permissionNames(policy.member)) }
        : { allowed: false, text: t('you lack {permissions} in this channel', permissionNames(missing)) };
    },
  },
  {
    rule: 'bot-permissions',
    look({ subject, request: { policy } }) {
      if (policy.bot === undefined || policy.bot.length === 0) return undefined;
      const missing = missingPermissions(subject.botPermissions, policy.bot, subject.inThread);
      return missing.length === 0
        ? { allowed: true, text: t('I have {permissions} in this channel', permissionNames(policy.bot)) }
        : { allowed: false, text: t('I lack {permissions} in this channel', permissionNames(missing)) };
    },
  },
];

/** Every reason for and against, in order. A pure function of its arguments. */
export function judge(
  subject: Subject,
  request: SettledRequest,
  plugin: PluginThere,
  atMost?: Tier,
): readonly DecisionReason[] {
  const levels = levelsFor(subject, plugin);
  const of: Case = {
    subject,
    request,
    plugin,
    ignoring: ignoringFor(subject, levels, plugin),
    found: decidingRule(levels, subject, request),
    atMost,
  };
  const reasons: DecisionReason[] = [];
  for (const { rule, look } of CHECKS) {
    const found = look(of);
    if (found === undefined) continue;
    const { allowed, text } = found;
    reasons.push(allowed ? { rule, allowed, text } : { rule, allowed, text, remedy: remedyFor(rule, of) });
  }
  return reasons;
}

const NO_RULES: readonly AccessRule[] = [];

/**
 * No rule applies to the bot's owner. In required plugins the guild's own rules do not apply to its owner, who can so undo them; the rules of the bot's owner do.
 */
function levelsFor(subject: Subject, { required }: PluginThere): RuleLevels {
  if (subject.isBotOwner) return { owner: NO_RULES, guild: NO_RULES };
  const { owner, guild } = subject.accessRules;
  return { owner, guild: required && subject.isGuildOwner ? NO_RULES : guild };
}

/** Where the bot ignores a channel, admins who are not ignored themselves can still control the bot, so that they can undo this. */
function ignoringFor(subject: Subject, levels: RuleLevels, { required }: PluginThere): FoundRule | undefined {
  const found = ignoringRule(levels, subject);
  if (found === undefined || found.level === 'owner' || !required) return found;
  const { kind } = found.rule.subject;
  if (kind === 'user' || kind === 'role') return found;
  return reaches(tierIn(subject), 'admin') ? undefined : found;
}

const { Administrator, ManageGuild, ModerateMembers, KickMembers, BanMembers, ManageMessages } = PermissionFlagsBits;

const hasRole = (subject: Subject, ids: readonly string[]) => ids.some((id) => subject.hasRole(id));

/** Checked from the most trusted tier down; the first match is the actor's tier. A guild's tiers do not apply in a direct message. */
const TIER_CHECKS: readonly (readonly [Tier, (subject: Subject) => boolean])[] = [
  ['botOwner', (subject) => subject.isBotOwner],
  ['everyone', (subject) => subject.place === 'dm'],
  ['guildOwner', (subject) => subject.isGuildOwner],
  [
    'admin',
    (subject) => subject.guildPermissions.any([Administrator, ManageGuild]) || hasRole(subject, subject.adminRoles),
  ],
  [
    'mod',
    (subject) =>
      subject.guildPermissions.any([ModerateMembers, KickMembers, BanMembers, ManageMessages]) ||
      hasRole(subject, subject.modRoles),
  ],
];

function tierIn(subject: Subject): Tier {
  return TIER_CHECKS.find(([, holds]) => holds(subject))?.[0] ?? 'everyone';
}

function lower(tier: Tier, other: Tier | undefined): Tier {
  return other === undefined || reaches(other, tier) ? tier : other;
}

function reaches(actual: Tier, needed: Tier): boolean {
  return TIERS.indexOf(actual) >= TIERS.indexOf(needed);
}

/** A tier as it reads in a sentence: "you are …". */
function tierName(tier: Tier): string {
  switch (tier) {
    case 'everyone':
      return t('an ordinary member');
    case 'mod':
      return t('a moderator');
    case 'admin':
      return t('an admin');
    case 'guildOwner':
      return t("the server's owner");
    case 'botOwner':
      return t("the bot's owner");
  }
}
