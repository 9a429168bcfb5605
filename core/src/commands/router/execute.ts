import { type Access, CinnabarError, type CommandContext, type Random } from '@cinnabar/sdk';
import { denial } from '../answers/denial.js';
import type { LostAnswers } from '../answers/lost.js';
import { bindOptions, type Problem, type Values } from '../options/bind.js';
import { answerFailure } from './answer-failure.js';
import type { Call } from './call.js';
import type { Cooldowns } from './cooldown.js';

/** What running commands takes. */
export interface Execution {
  readonly access: Access;
  readonly random: Random;
  readonly cooldowns: Cooldowns;
  readonly lost: LostAnswers;
}

/**
 * The one path of every command: access, options, cooldown, then the command itself. Whatever goes wrong is said to the caller;
 * what should not have gone wrong is thrown on for the error boundary to log.
 */
export async function execute(execution: Execution, call: Call): Promise<void> {
  try {
    await authorize(execution.access, call);
    const values = await readValues(call);
    execution.cooldowns.use(call.entry, call.actor);
    await call.entry.run(await contextOf(call), values);
    await call.answers.finish();
  } catch (error) {
    await answerFailure(execution, `command ${call.entry.name}`, call.actor, call.answers, error);
  } finally {
    call.answers.close();
  }
}

async function authorize(access: Access, { actor, entry }: Call): Promise<void> {
  const decision = await access.decide(actor, {
    kind: 'command',
    name: entry.name,
    plugin: entry.owner.id,
    policy: entry.policy,
  });
  if (!decision.allowed) throw denial(decision);
}

async function readValues(call: Call): Promise<Values> {
  const read = call.given();
  if ('problem' in read) throw invalid(call, read.problem);
  const bound = await bindOptions(call.entry.specs, read.given, call.place);
  if ('problem' in bound) throw invalid(call, bound.problem);
  return bound.values;
}

function invalid(call: Call, problem: Problem): CinnabarError {
  return new CinnabarError('CINNABAR_OPTION_INVALID', { detail: call.show(problem) });
}

async function contextOf(call: Call): Promise<CommandContext> {
  const { entry, answers, place } = call;
  return {
    name: entry.name,
    source: call.source,
    actor: call.actor,
    user: place.user,
    member: await call.member(),
    guild: place.guild,
    channel: await call.channel(),
    message: call.message,
    prefix: call.prefix,
    signal: entry.owner.scope.signal,
    reply: (reply) => answers.reply(reply),
    defer: () => answers.defer(),
  };
}
