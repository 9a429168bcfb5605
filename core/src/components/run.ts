import type { Access, Actor, Clock, ComponentDefinition, ComponentInteraction, Logger, Random } from '@cinnabar/sdk';
import { denial } from '../commands/answers/denial.js';
import { explain, isReadByOperator } from '../commands/answers/explain.js';
import { notice } from '../commands/answers/notice.js';
import type { Owner } from '../contracts.js';
import { untilInterrupted } from '../process/phases.js';

interface Parts {
  readonly access: Access;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Logger;
}

/** Checks access, runs the component, and sees to it that Discord never shows "interaction failed". */
export async function runComponent(
  { access, clock, random, log }: Parts,
  owner: Owner,
  definition: ComponentDefinition,
  interaction: ComponentInteraction,
  args: readonly string[],
): Promise<void> {
  const actor: Actor = {
    userId: interaction.user.id,
    guildId: interaction.guildId,
    channelId: interaction.channelId ?? '',
  };
  const policy = definition.access ?? {};
  try {
    const decision = await access.decide(actor, {
      kind: 'component',
      name: definition.name,
      plugin: owner.id,
      policy,
    });
    if (!decision.allowed) throw denial(decision);
    owner.entrusted?.give(actor);
    await untilInterrupted(owner.scope.signal, clock, Promise.resolve(definition.run(interaction, args)));
    await acknowledge(interaction);
  } catch (error) {
    const forOperator = await isReadByOperator(access, actor, policy);
    const what = `component ${definition.name}`;
    const { sentence, failure } = explain({ what, actor, error, log: owner.log, forOperator }, random);
    await notice(interaction, sentence).catch((cause: unknown) =>
      log.warn('a component could not be answered', { customId: interaction.customId, error: cause }),
    );
    if (failure !== undefined) throw failure;
  }
}

/** A handler that has nothing to say still has to answer Discord. */
async function acknowledge(interaction: ComponentInteraction): Promise<void> {
  if (interaction.replied || interaction.deferred) return;
  if (interaction.isModalSubmit() && !interaction.isFromMessage()) await notice(interaction, 'Done.');
  else await interaction.deferUpdate();
}
