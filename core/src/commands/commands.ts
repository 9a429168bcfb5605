import type { Access, AuditLog, Clock, Logger, Metrics, Random } from '@cinnabar/sdk';
import type { Client } from 'discord.js';
import type { Boundary, CommandService, EnabledIn } from '../contracts.js';
import { createCooldowns, createLostAnswers, type Execution } from './execute.js';
import { createInteractionRouter } from './interactions.js';
import { createRecogniser, createSuggester, runMessage } from './message.js';
import { buildCommand, buildGroup, createRegistry, decideEach, nearest, visibleAmong } from './registry.js';
import { createSlashSync, type SyncedListsDocument } from './slash-sync.js';

/** Builds the command service: registry, parser, routers, slash sync and directory. */
export function createCommands(parts: CommandServices): CommandService {
  const { access, audit, boundary, clock, enabledIn, log, metrics, random } = parts;
  const registry = createRegistry();
  const uses = metrics.counter({
    name: 'commands_total',
    help: 'Uses of commands by outcome: done, denied, refused (in plain words), failed, unanswered (the answer could not be given).',
    labels: ['command', 'surface', 'outcome'],
  });
  const execution: Execution = {
    access,
    random,
    clock,
    cooldowns: createCooldowns(clock),
    lost: createLostAnswers(log),
    audit,
    count: ({ entry, source }, outcome) => uses.add({ command: entry.name, surface: source, outcome }),
  };
  const recognise = createRecogniser(parts, registry);
  const suggest = createSuggester(parts, registry, execution);

  return {
    command: (owner, definition) => registry.add(buildCommand(owner, definition)),
    group: (owner, definition) => registry.add(buildGroup(owner, definition)),
    all: () => registry.leaves().map((leaf) => leaf.info),
    matches: (message) => recognise(message)?.entry !== undefined,
    onMessage(message) {
      const recognised = recognise(message);
      if (recognised === undefined) return false;
      const { entry } = recognised;
      if (entry === undefined) {
        suggest(message, recognised);
        return false;
      }
      void boundary.run(entry.owner, message.guildId, `command ${entry.name}`, () =>
        runMessage(execution, message, entry, recognised),
      );
      return true;
    },
    onInteraction: createInteractionRouter(parts, registry, execution),
    async visibleTo(actor) {
      const enabled = registry.leaves().filter((leaf) => enabledIn(actor.guildId, leaf.owner.plugin));
      const { visible } = await visibleAmong(access, actor, enabled);
      return visible.map((leaf) => leaf.info).sort((a, b) => (a.name < b.name ? -1 : 1));
    },
    names() {
      const paths = registry.leaves().flatMap(({ name }) => {
        const words = name.split(' ');
        return words.map((_, index) => words.slice(0, index + 1).join(' '));
      });
      return [...new Set(paths)].sort();
    },
    async explain(actor, name) {
      const wanted = name.trim().toLowerCase().split(/\s+/).join(' ');
      const among = registry
        .leaves()
        .filter(
          (leaf) => leaf.name === wanted || leaf.name.startsWith(`${wanted} `) || leaf.info.aliases.includes(wanted),
        );
      const decided = await decideEach(access, actor, among);
      return decided.map(({ command, decision }) => ({ command: command.info, decision }));
    },
    similar: (name, among) =>
      nearest(
        name,
        among.map((info) => info.name),
      ),
    ...createSlashSync(parts, registry),
  };
}

/** What the command service is built from: `createCommands(parts)`. */
export interface CommandServices {
  readonly client: Client;
  /**
   * Prefixes of a guild, or of direct messages (`null`), in any order. Called for every message: it must answer from memory
   * and without building a new array.
   */
  readonly prefixes: (guildId: string | null) => readonly string[];
  readonly enabledIn: EnabledIn;
  readonly access: Access;
  readonly audit: Pick<AuditLog, 'record'>;
  readonly boundary: Boundary;
  readonly metrics: Metrics;
  /** Where it is kept what Discord's lists of slash commands hold; in memory alone when left out. Asked for once the bot is logged in. */
  readonly syncedLists?: () => SyncedListsDocument;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Logger;
}
