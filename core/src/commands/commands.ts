import {
  type Access,
  type AuditLog,
  type Clock,
  defined,
  type Logger,
  type MessageDecisions,
  type Metrics,
  type Random,
} from '@cinnabar/sdk';
import type { Client } from 'discord.js';
import type { Claims } from '../cluster/claims.js';
import type { Boundary, CommandService, EnabledIn, GuildState, OwnerChoices } from '../contracts.js';
import type { Partition } from '../gateway/partition.js';
import type { LanguageService } from '../languages/languages.js';
import { createCooldowns, createLostAnswers, type Execution } from './execute.js';
import { createGuildCommands } from './guild-commands.js';
import { createInteractionRouter } from './interactions.js';
import { createMessageRouter, entryCalled } from './messages.js';
import { sameAsInRed } from './red-names.js';
import {
  buildCommand,
  buildGroup,
  type CommandEntry,
  createRegistry,
  decideEach,
  nearest,
  visibleAmong,
} from './registry.js';
import { createSlashSync, type SlashPace, type SyncedListsDocument } from './slash-sync.js';

/** Builds the command service: registry, parser, routers, slash sync and directory. */
export function createCommands(parts: CommandServices): CommandService {
  const { access, audit, clock, enabledIn, log, metrics, random } = parts;
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
    ...(parts.decisions === undefined ? {} : { decisions: parts.decisions }),
    count: ({ entry, source }, outcome) =>
      uses.add({ command: entry.isOfGuild ? entry.owner.id : entry.name, surface: source, outcome }),
  };
  const made = createGuildCommands(enabledIn);
  /** The commands that members of a guild have made, without those whose names are commands of plugins. */
  const madeIn = (guildId: string | null) => {
    const isHidden = ({ key }: CommandEntry) => entryCalled(parts, registry, key, guildId) !== undefined;
    return made.list(guildId).filter((entry) => !isHidden(entry));
  };
  const messages = createMessageRouter(parts, registry, execution, made);

  return {
    command: (owner, definition) => registry.add(buildCommand(owner, definition)),
    group: (owner, definition) => registry.add(buildGroup(owner, definition)),
    guildCommands: (owner, source) => made.register(owner, source),
    all: () => registry.leaves().map((leaf) => leaf.info),
    matches: messages.matches,
    onMessage: messages.onMessage,
    onInteraction: createInteractionRouter(parts, registry, execution),
    async visibleTo(actor) {
      const enabled = registry.leaves().filter((leaf) => enabledIn(actor.guildId, leaf.owner.plugin));
      const { visible } = await visibleAmong(access, actor, [...enabled, ...madeIn(actor.guildId)]);
      return visible.map((leaf) => leaf.info).sort((a, b) => (a.name < b.name ? -1 : 1));
    },
    has: (name) => registry.find(name) !== undefined,
    owners(name) {
      const wanted = wordsOf(name);
      const of = registry
        .leaves()
        .filter(
          (leaf) => leaf.name === wanted || leaf.name.startsWith(`${wanted} `) || leaf.info.aliases.includes(wanted),
        )
        .map(({ owner }) => owner.id);
      return of.length > 0 ? [...new Set(of)] : [registry.formerOwner(wanted)].filter((id) => id !== undefined);
    },
    names(guildId) {
      const ofGuild = guildId === undefined ? [] : madeIn(guildId);
      const paths = [...registry.leaves(), ...ofGuild].flatMap(({ name }) => {
        const words = name.split(' ');
        return words.map((_, index) => words.slice(0, index + 1).join(' '));
      });
      return [...new Set(paths)].sort();
    },
    async explain(actor, name, decide = access.decide) {
      const wanted = wordsOf(name);
      const among = [...registry.leaves(), ...madeIn(actor.guildId)].filter(
        (leaf) => leaf.name === wanted || leaf.name.startsWith(`${wanted} `) || leaf.info.aliases.includes(wanted),
      );
      const decided = await decideEach(decide, actor, among);
      return decided.map(({ command, decision }) => ({
        command: command.info,
        decision,
        ...defined({ cooldown: execution.cooldowns.refusal(command, actor) }),
      }));
    },
    similar(name, among) {
      const names = among.map((info) => info.name);
      const inRed = sameAsInRed(wordsOf(name));
      return [...new Set([...inRed.filter((known) => names.includes(known)), ...nearest(name, names)])];
    },
    suggestWhere: messages.suggestWhere,
    ...createSlashSync(parts, registry),
  };
}

const wordsOf = (name: string) => name.trim().toLowerCase().split(/\s+/).join(' ');

/** The services from which the command service is built: `createCommands(parts)`. */
export interface CommandServices {
  readonly client: Client;
  /** The servers whose slash commands are synchronised here: in a cluster, each host has its own servers, and the first host the global list. */
  readonly owns: Partition['owns'];
  /**
   * Prefixes of a guild, or of direct messages (`null`), in any order. Called for every message: it must answer from memory
   * and without building a new array.
   */
  readonly prefixes: (guildId: string | null) => readonly string[];
  readonly enabledIn: EnabledIn;
  /** The state on which `enabledIn` depends: its results are cached while both are the same objects. Without it nothing is cached. */
  readonly choices?: {
    ofGuild(guildId: string): GuildState | undefined;
    ofOwner(): OwnerChoices;
  };
  /** Ids of the known plugins, for suggestions: a member may type the id of a plugin that has no command of that name. */
  readonly pluginIds?: () => readonly string[];
  readonly access: Access;
  readonly audit: Pick<AuditLog, 'record'>;
  /** Records the outcome of a message that named a command, for `!why`. */
  readonly decisions?: Pick<MessageDecisions, 'note'>;
  readonly boundary: Boundary;
  readonly claims: Claims;
  readonly languages: Pick<LanguageService, 'serve' | 'serveInteraction' | 'forDiscord' | 'digestForDiscord'>;
  readonly metrics: Metrics;
  /** Stores the content of Discord's lists of slash commands; only in memory when left out. Called after the login. */
  readonly syncedLists?: () => SyncedListsDocument;
  /** The pace at which Discord's lists of slash commands are updated; a separate one when left out. */
  readonly slashPace?: SlashPace | undefined;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Logger;
}
