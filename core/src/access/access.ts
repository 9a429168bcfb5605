import type { AccessRequest, Actor, Clock, Decision, DecisionReason, Identities, Logger } from '@cinnabar/sdk';
import type { Client } from 'discord.js';
import type { AccessRule, AccessService, GuildStates } from '../contracts.js';
import { createMemberships } from './memberships.js';
import { createOwners } from './owners.js';
import { judge, tierIn } from './policy.js';
import { createPlaceResolver, OUT_OF_REACH } from './resolved-place.js';
import { type Absence, createSubjects, type Subject } from './subjects.js';

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
  const subjects = createSubjects({ client, states, isOwner: owners.has, clock, memberships });
  const places = createPlaceResolver({ identities: parts.identities, client });

  const failedCheck = (rule: string, error: unknown): DecisionReason => {
    log.error('an access check failed, so the answer was no', { rule, error });
    return { rule, allowed: false, text: 'it could not be checked whether you may' };
  };

  const named = (found: Subject | Absence): Subject | DecisionReason => ('because' in found ? ofAbsence(found) : found);

  // At once where everything is known: a command must not cost a promise for each step.
  const stand = (actor: Actor, fresh: boolean): MaybeLater<Subject | DecisionReason> => {
    const failed = (error: unknown) => failedCheck('actor', error);
    try {
      const found = owners.settled()
        ? subjects.here(actor, fresh)
        : owners.load().then(() => subjects.here(actor, fresh));
      return found instanceof Promise ? found.then(named).catch(failed) : named(found);
    } catch (error) {
      return failed(error);
    }
  };

  const judged = (subject: Subject, actor: Actor, request: AccessRequest) => {
    try {
      return judge(subject, request, enabledIn(actor.guildId, request.plugin));
    } catch (error) {
      return [failedCheck('policy', error)];
    }
  };

  const added = async (actor: Actor, request: AccessRequest): Promise<readonly DecisionReason[]> => {
    const said = await Promise.all(
      rules.map(async (rule) => {
        try {
          return await rule(actor, request);
        } catch (error) {
          return failedCheck('added-rule', error);
        }
      }),
    );
    return said.filter((reason) => reason !== undefined);
  };

  // Not where the actor is, or under an identity: everything is decided for the place where it takes effect.
  const weighElsewhere = async (actor: Actor, request: AccessRequest, fresh: boolean): Promise<Decision> => {
    try {
      await owners.load();
      const place = await places.resolve(actor, request);
      if ('rule' in place) return refuse(place);
      const { userId, guildId, channelId, elsewhere } = place;
      const who = { userId, guildId, channelId: channelId ?? actor.channelId };
      const subject = elsewhere ? await subjects.elsewhere(place, fresh) : await subjects.here(who, fresh);
      // What there is elsewhere is nobody's business who cannot see it.
      if ('because' in subject) return refuse(elsewhere ? OUT_OF_REACH : ofAbsence(subject));
      const ofPolicy = judged(subject, who, request);
      return conclude([...ofPolicy, ...(await added(who, request))]);
    } catch (error) {
      return refuse(failedCheck('reach', error));
    }
  };

  const weigh = async (actor: Actor, request: AccessRequest, fresh: boolean): Promise<Decision> => {
    if (actor.identity !== undefined || request.at !== undefined) return weighElsewhere(actor, request, fresh);
    const found = stand(actor, fresh);
    const subject = found instanceof Promise ? await found : found;
    if ('rule' in subject) return refuse(subject);
    const ofPolicy = judged(subject, actor, request);
    return conclude(rules.length === 0 ? ofPolicy : [...ofPolicy, ...(await added(actor, request))]);
  };

  return {
    decide: (actor, request) => weigh(actor, request, false),
    async decideFresh(actor, request) {
      // What runs after this asks anew of every place that it looks into, once.
      for (const userId of await places.usersBehind(actor)) memberships.forget(userId);
      return weigh(actor, request, true);
    },
    async mayEnter(actor, at, permissions = []) {
      const place = await places.visiblePlace(actor, at);
      return place !== undefined && (await subjects.mayEnter(place, permissions));
    },
    membershipsAreLive: memberships.live,
    actorAt: places.actorAt,
    modeOf: places.modeOf,
    async tierOf(actor) {
      // An agent is never more than an ordinary member to whoever asks in general.
      if (actor.identity !== undefined) return 'everyone';
      const subject = await stand(actor, false);
      return 'rule' in subject ? 'everyone' : tierIn(subject);
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

/** Why it was refused, for the `{reasons}` of a coded error: every denying reason in one clause. */
export function refusalReasons(decision: Decision): string {
  const denying = decision.reasons.filter((reason) => !reason.allowed).map((reason) => reason.text);
  return denying.length === 0 ? 'no rule allows it' : denying.join('; ');
}
