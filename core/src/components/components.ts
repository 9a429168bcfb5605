import {
  type Access,
  type Actor,
  type AuditLog,
  CinnabarError,
  type Clock,
  type ComponentDefinition,
  type ComponentInteraction,
  type Logger,
  type Random,
  sentenceOf,
  t,
} from '@cinnabar/sdk';
import type { Interaction } from 'discord.js';
import { type Answered, type Claims, claimed } from '../cluster/claims.js';
import { denial, explain, ignoreInteraction, isIgnored, isReadByOperator, notice } from '../commands/answers.js';
import { isForStaff, outcomeOf } from '../commands/execute.js';
import type { Boundary, ComponentService, EnabledIn, Owner } from '../contracts.js';
import { untilInterrupted } from '../gateway/boundary.js';
import type { InteractionRequests } from '../gateway/rest.js';
import type { LanguageService } from '../languages/languages.js';

/** The services from which the registry of components is built. */
interface ComponentServices {
  readonly enabledIn: EnabledIn;
  readonly access: Access;
  readonly audit: Pick<AuditLog, 'record'>;
  readonly boundary: Boundary;
  readonly claims: Claims;
  readonly interactionRequests: InteractionRequests;
  readonly languages: Pick<LanguageService, 'serveInteraction'>;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Logger;
}

interface Registered {
  readonly owner: Owner;
  readonly definition: ComponentDefinition;
}

const NAME = /^[\w-]{1,32}$/;
const stale = () => t('This no longer works: the plugin behind it has been stopped or changed.');
const disabled = () => t('This does not work here at the moment: the plugin behind it is switched off in this server.');

/** Builds the registry and router of buttons, select menus and modals. */
export function createComponents(parts: ComponentServices): ComponentService {
  const registered = new Map<string, Registered>();

  const tell = async (interaction: ComponentInteraction, sentence: () => string) => {
    try {
      await parts.languages.serveInteraction(interaction, () => notice(interaction, sentence()));
    } catch (error) {
      parts.log.warn('a stale component could not be answered', { customId: interaction.customId, error });
    }
  };

  return {
    component(owner, definition) {
      const key = `${owner.id}:${definition.name}`;
      assertFree(registered.get(key), definition.name);
      const entry = { owner, definition };
      owner.scope.add(`component ${definition.name}`, () => {
        if (registered.get(key) === entry) registered.delete(key);
      });
      registered.set(key, entry);
      return { customId: (...args) => encodeCustomId(owner.id, definition.name, args) };
    },
    onInteraction(interaction) {
      if (!isComponent(interaction)) return false;
      const id = decodeCustomId(interaction.customId);
      if (id === undefined) return false;
      const entry = registered.get(`${id.plugin}:${id.name}`);
      if (entry === undefined) void tell(interaction, stale);
      else if (!parts.enabledIn(interaction.guildId, entry.owner.plugin)) void tell(interaction, disabled);
      else {
        const { owner, definition } = entry;
        void parts.boundary.run(owner, interaction.guildId, `component ${definition.name}`, () =>
          parts.claims.run(claimed(interaction), () =>
            parts.languages.serveInteraction(interaction, () =>
              runComponent(parts, owner, definition, interaction, id.args),
            ),
          ),
        );
      }
      return true;
    },
  };
}

function isComponent(interaction: Interaction): interaction is ComponentInteraction {
  return interaction.isButton() || interaction.isAnySelectMenu() || interaction.isModalSubmit();
}

function assertFree(existing: Registered | undefined, name: string): void {
  if (!NAME.test(name)) {
    throw new CinnabarError('CINNABAR_NAME_INVALID', {
      kind: 'component',
      name,
      detail: 'use letters, digits, `-` and `_`, at most 32',
    });
  }
  if (existing !== undefined) {
    throw new CinnabarError('CINNABAR_NAME_TAKEN', { kind: 'component', name, plugin: existing.owner.id });
  }
}

/** Checks access, runs the component, and makes sure that Discord never shows "interaction failed". */
async function runComponent(
  { access, audit, interactionRequests, clock, random, log }: ComponentServices,
  owner: Owner,
  definition: ComponentDefinition,
  interaction: ComponentInteraction,
  args: readonly string[],
): Promise<Answered> {
  const actor: Actor = {
    userId: interaction.user.id,
    guildId: interaction.guildId,
    channelId: interaction.channelId ?? '',
  };
  const policy = definition.access ?? {};
  const isAct = definition.audited ?? isForStaff(policy);
  const act = { actor, plugin: owner.id, act: actOf(interaction, definition.name) };
  const answers = interactionRequests.follow(interaction);
  try {
    const decision = await access.decide(actor, {
      kind: 'component',
      name: definition.name,
      plugin: owner.id,
      policy,
    });
    if (!decision.allowed) throw denial(decision);
    owner.entrusted?.give(actor);
    const work = Promise.resolve(definition.run(interaction, args));
    await untilInterrupted(owner.scope.signal, clock, work, answers);
    await acknowledge(interaction);
    if (isAct) audit.record({ ...act, outcome: 'done' });
    return 'answered';
  } catch (error) {
    if (isIgnored(error)) {
      await ignoreInteraction(interaction);
      return 'answered';
    }
    const outcome = outcomeOf(error);
    if (outcome === 'denied' || (isAct && outcome !== 'unanswered'))
      audit.record({ ...act, outcome, reason: sentenceOf(error)?.split('\n', 1)[0] });
    const forOperator = await isReadByOperator(access, actor, policy);
    const what = `component ${definition.name}`;
    const { sentence, failure } = explain({ what, actor, error, log: owner.log, forOperator }, random);
    const answered = await notice(interaction, sentence).then(
      () => 'answered' as const,
      (cause: unknown) => {
        log.warn('a component could not be answered', { customId: interaction.customId, error: cause });
        return 'unanswered' as const;
      },
    );
    if (failure !== undefined) throw failure;
    return answered;
  } finally {
    answers.end();
  }
}

/** The use of a component in the words of the audit: `button "Leave it"`, `form settings`. */
function actOf(interaction: ComponentInteraction, name: string): string {
  if (interaction.isModalSubmit()) return `form ${name}`;
  if (!interaction.isButton()) return `menu ${name}: ${interaction.values.join(', ')}`;
  const label = 'label' in interaction.component ? interaction.component.label : undefined;
  return `button ${label == null ? name : `"${label}"`}`;
}

/** A handler that gives no answer still has to acknowledge the interaction. */
async function acknowledge(interaction: ComponentInteraction): Promise<void> {
  if (interaction.replied || interaction.deferred) return;
  if (interaction.isModalSubmit() && !interaction.isFromMessage()) await notice(interaction, t('Done.'));
  else await interaction.deferUpdate();
}

/** https://discord.com/developers/docs/components/reference#anatomy-of-a-component-custom-id */
const MAX_LENGTH = 100;
const OURS = /^([a-z][a-z0-9-]{0,31}):([\w-]{1,32})(?::(.*))?$/s;

/** The content of a `custom_id`. It comes back from a client, so it must not be trusted. */
interface ParsedId {
  readonly plugin: string;
  readonly name: string;
  readonly args: readonly string[];
}

/**
 * `plugin:name:arg:arg`, with `:` and `%` in arguments escaped.
 * @throws CINNABAR_NAME_INVALID when Discord would refuse it as too long
 */
function encodeCustomId(plugin: string, name: string, args: readonly string[]): string {
  const id = [plugin, name, ...args.map(escapePart)].join(':');
  if (id.length > MAX_LENGTH) {
    throw new CinnabarError('CINNABAR_NAME_INVALID', {
      kind: 'component',
      name,
      detail: `with its arguments its custom id has ${id.length} characters, and Discord allows ${MAX_LENGTH}`,
    });
  }
  return id;
}

/** `undefined` when the id does not have this form. */
function decodeCustomId(id: string): ParsedId | undefined {
  const [, plugin, name, rest] = OURS.exec(id) ?? [];
  if (plugin === undefined || name === undefined) return undefined;
  return { plugin, name, args: rest === undefined ? [] : rest.split(':').map(unescapePart) };
}

function escapePart(part: string): string {
  return part.replaceAll('%', '%25').replaceAll(':', '%3A');
}

function unescapePart(part: string): string {
  return part.replaceAll('%3A', ':').replaceAll('%25', '%');
}
