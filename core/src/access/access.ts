import type { AccessSubject, Actor, Clock, Decision, DecisionReason, Identities, Logger } from '@cinnabar/sdk';
import type { Client } from 'discord.js';
import type { AccessRule, AccessService, GuildStates } from '../contracts.js';
import { judge } from './checks.js';
import { createMemberships } from './memberships.js';
import { createOwners } from './owners.js';
import { createReach, OUT_OF_REACH } from './reach.js';
import type { Absence, Standing } from './standing.js';
import { createStandings } from './standings.js';
import { tierIn } from './tiers.js';

export interface AccessParts {
  readonly client: Client;
  readonly states: GuildStates;
  /** Whether the plugin of that id is switched on there. Asked once the guild's state is loaded. */
  readonly enabledIn: (guildId: string | null, plugin: string) => boolean;
  /** User ids of the bot's owners; empty: the application's owner or team. */
  readonly owners: readonly string[];
  readonly identities: Pick<Identities, 'get' | 'standing'>;
  /** Added rules. They can refuse what the policy allows, never the other way round. */
  readonly rules?: readonly AccessRule[];
  readonly clock: Clock;
  readonly log: Logger;
}

type MaybeLater<T> = T | Promise<T>;

/** Builds the one authorization path. Deny wins, and whatever goes wrong inside is a refusal. */
export function createAccess(parts: AccessParts): AccessService {
  const { client, states, enabledIn, rules = [], clock, log } = parts;
  const owners = createOwners({ client, configured: parts.owners, clock, log });
  const memberships = createMemberships(client, clock);
  const standings = createStandings({ client, states, isOwner: owners.has, clock, memberships });
  const reach = createReach({ identities: parts.identities, client });

  const failedCheck = (rule: string, error: unknown): DecisionReason => {
    log.error('an access check failed, so the answer was no', { rule, error });
    return { rule, allowed: false, text: 'it could not be checked whether you may' };
  };

  const named = (found: Standing | Absence): Standing | DecisionReason =>
    'because' in found ? ofAbsence(found) : found;

  // At once where everything is known: a command must not cost a promise for each step.
  const stand = (actor: Actor, fresh: boolean): MaybeLater<Standing | DecisionReason> => {
    const failed = (error: unknown) => failedCheck('actor', error);
    try {
      const found = owners.settled()
        ? standings.here(actor, fresh)
        : owners.load().then(() => standings.here(actor, fresh));
      return found instanceof Promise ? found.then(named).catch(failed) : named(found);
    } catch (error) {
      return failed(error);
    }
  };

  const judged = (standing: Standing, actor: Actor, subject: AccessSubject) => {
    try {
      return judge(standing, subject, enabledIn(actor.guildId, subject.plugin));
    } catch (error) {
      return [failedCheck('policy', error)];
    }
  };

  const added = async (actor: Actor, subject: AccessSubject): Promise<readonly DecisionReason[]> => {
    const said = await Promise.all(
      rules.map(async (rule) => {
        try {
          return await rule(actor, subject);
        } catch (error) {
          return failedCheck('added-rule', error);
        }
      }),
    );
    return said.filter((reason) => reason !== undefined);
  };

  // Not where the actor is, or under an identity: everything is decided for the place where it takes effect.
  const weighElsewhere = async (actor: Actor, subject: AccessSubject, fresh: boolean): Promise<Decision> => {
    try {
      await owners.load();
      const vantage = await reach.vantage(actor, subject);
      if ('rule' in vantage) return refuse(vantage);
      const { userId, guildId, channelId, elsewhere } = vantage;
      const who = { userId, guildId, channelId: channelId ?? actor.channelId };
      const standing = elsewhere ? await standings.elsewhere(vantage, fresh) : await standings.here(who, fresh);
      // What there is elsewhere is nobody's business who cannot see it.
      if ('because' in standing) return refuse(elsewhere ? OUT_OF_REACH : ofAbsence(standing));
      const ofPolicy = judged(standing, who, subject);
      return conclude([...ofPolicy, ...(await added(who, subject))]);
    } catch (error) {
      return refuse(failedCheck('reach', error));
    }
  };

  const weigh = async (actor: Actor, subject: AccessSubject, fresh: boolean): Promise<Decision> => {
    if (actor.identity !== undefined || subject.at !== undefined) return weighElsewhere(actor, subject, fresh);
    const found = stand(actor, fresh);
    const standing = found instanceof Promise ? await found : found;
    if ('rule' in standing) return refuse(standing);
    const ofPolicy = judged(standing, actor, subject);
    return conclude(rules.length === 0 ? ofPolicy : [...ofPolicy, ...(await added(actor, subject))]);
  };

  return {
    decide: (actor, subject) => weigh(actor, subject, false),
    async decideFresh(actor, subject) {
      // What runs after this asks anew of every place that it looks into, once.
      for (const userId of await reach.usersBehind(actor)) memberships.forget(userId);
      return weigh(actor, subject, true);
    },
    async mayEnter(actor, at, permissions = []) {
      const vantage = await reach.sight(actor, at);
      return vantage !== undefined && (await standings.mayEnter(vantage, permissions));
    },
    membershipsAreLive: memberships.live,
    actorAt: reach.actorAt,
    modeOf: reach.modeOf,
    async tierOf(actor) {
      // An agent is never more than an ordinary member to whoever asks in general.
      if (actor.identity !== undefined) return 'everyone';
      const standing = await stand(actor, false);
      return 'rule' in standing ? 'everyone' : tierIn(standing);
    },
    isOwner: owners.has,
    owners: owners.ids,
    loadOwners: owners.load,
  };
}

const refuse = (reason: DecisionReason): Decision => ({ allowed: false, reasons: [reason] });

const conclude = (reasons: readonly DecisionReason[]): Decision => ({
  allowed: reasons.every((reason) => reason.allowed === true),
  reasons,
});

const ofAbsence = ({ because }: Absence): DecisionReason => ({ rule: 'actor', allowed: false, text: because });
