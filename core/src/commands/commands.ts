import type { CommandService } from '../contracts.js';
import { createLostAnswers } from './answers/lost.js';
import { createDirectory } from './directory/directory.js';
import type { CommandRoomParts } from './parts.js';
import { buildCommand, buildGroup } from './registry/build.js';
import { createRegistry } from './registry/registry.js';
import { createCooldowns } from './router/cooldown.js';
import type { Execution } from './router/execute.js';
import { createInteractionRouter } from './router/interactions.js';
import { runMessage } from './router/message.js';
import { createRecogniser } from './router/recognise.js';
import { createSuggester } from './router/suggest.js';
import { createSlashSync } from './slash/sync.js';

/** Builds the room of commands: registry, parser, router, slash sync and directory. */
export function createCommands(parts: CommandRoomParts): CommandService {
  const { access, audit, boundary, clock, log, metrics, random } = parts;
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
    ...createDirectory(parts, registry),
    ...createSlashSync(parts, registry),
  };
}
