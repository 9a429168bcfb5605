import type { AccessSubject, Actor, Clock, Decision, DecisionReason, Logger } from '@cinnabar/sdk';
import type { Client } from 'discord.js';
import type { AccessRoom, AccessRule, GuildStates } from '../contracts.js';
import { judge } from './checks.js';
import { createOwners } from './owners.js';
import type { Standing } from './standing.js';
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

/** Builds the one authorization path. Deny wins, and whatever goes wrong inside is a refusal. */
export function createAccess(parts: AccessParts): AccessRoom {
  const { client, states, enabledIn, rules = [], clock, log } = parts;
  const owners = createOwners({ client, configured: parts.owners, clock, log });
  const standingOf = createStandings({ client, states, isOwner: owners.has, clock });

  const failedCheck = (rule: string, error: unknown): DecisionReason => {
    log.error('an access check failed, so the answer was no', { rule, error });
    return { rule, allowed: false, text: 'it could not be checked whether you may' };
  };

  const caught = async <T>(rule: string, look: () => T) => {
    try {
      return await look();
    } catch (error) {
      return [failedCheck(rule, error)];
    }
  };

  const stand = async (actor: Actor, plugin: string, fresh: boolean): Promise<Standing | DecisionReason> => {
    try {
      await owners.load();
      const place = await standingOf(actor, fresh);
      if ('because' in place) return { rule: 'actor', allowed: false, text: place.because };
      return { ...place, pluginEnabled: enabledIn(actor.guildId, plugin) };
    } catch (error) {
      return failedCheck('actor', error);
    }
  };

  const weigh = async (actor: Actor, subject: AccessSubject, fresh: boolean): Promise<Decision> => {
    const standing = await stand(actor, subject.plugin, fresh);
    if ('rule' in standing) return { allowed: false, reasons: [standing] };
    const [own, ...added] = await Promise.all([
      caught('policy', () => judge(standing, subject)),
      ...rules.map((rule) => caught('added-rule', async () => [await rule(actor, subject)])),
    ]);
    const reasons = [...own, ...added.flat()].filter((reason) => reason !== undefined);
    return { allowed: reasons.every((reason) => reason.allowed === true), reasons };
  };

  return {
    decide: (actor, subject) => weigh(actor, subject, false),
    decideFresh: (actor, subject) => weigh(actor, subject, true),
    async tierOf(actor) {
      const standing = await stand(actor, '', false);
      return 'rule' in standing ? 'everyone' : tierIn(standing);
    },
    isOwner: owners.has,
    loadOwners: owners.load,
  };
}
