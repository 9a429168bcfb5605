import type { AccessSubject, Actor, Clock, Decision, DecisionReason, Logger } from '@cinnabar/sdk';
import type { Client } from 'discord.js';
import type { AccessRoom, AccessRule, GuildStates } from '../contracts.js';
import { judge } from './checks.js';
import { createOwners } from './owners.js';
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
  /** Added rules. They can refuse what the policy allows, never the other way round. */
  readonly rules?: readonly AccessRule[];
  readonly clock: Clock;
  readonly log: Logger;
}

type MaybeLater<T> = T | Promise<T>;

/** Builds the one authorization path. Deny wins, and whatever goes wrong inside is a refusal. */
export function createAccess(parts: AccessParts): AccessRoom {
  const { client, states, enabledIn, rules = [], clock, log } = parts;
  const owners = createOwners({ client, configured: parts.owners, clock, log });
  const standingOf = createStandings({ client, states, isOwner: owners.has, clock });

  const failedCheck = (rule: string, error: unknown): DecisionReason => {
    log.error('an access check failed, so the answer was no', { rule, error });
    return { rule, allowed: false, text: 'it could not be checked whether you may' };
  };

  const named = (found: Standing | Absence): Standing | DecisionReason =>
    'because' in found ? { rule: 'actor', allowed: false, text: found.because } : found;

  // At once where everything is known: a command must not cost a promise for each step.
  const stand = (actor: Actor, fresh: boolean): MaybeLater<Standing | DecisionReason> => {
    const failed = (error: unknown) => failedCheck('actor', error);
    try {
      const found = owners.settled() ? standingOf(actor, fresh) : owners.load().then(() => standingOf(actor, fresh));
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

  const weigh = async (actor: Actor, subject: AccessSubject, fresh: boolean): Promise<Decision> => {
    const found = stand(actor, fresh);
    const standing = found instanceof Promise ? await found : found;
    if ('rule' in standing) return { allowed: false, reasons: [standing] };
    const ofPolicy = judged(standing, actor, subject);
    const reasons = rules.length === 0 ? ofPolicy : [...ofPolicy, ...(await added(actor, subject))];
    return { allowed: reasons.every((reason) => reason.allowed === true), reasons };
  };

  return {
    decide: (actor, subject) => weigh(actor, subject, false),
    decideFresh: (actor, subject) => weigh(actor, subject, true),
    async tierOf(actor) {
      const standing = await stand(actor, false);
      return 'rule' in standing ? 'everyone' : tierIn(standing);
    },
    isOwner: owners.has,
    owners: owners.ids,
    loadOwners: owners.load,
  };
}
