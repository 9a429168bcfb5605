import { readFileSync } from 'node:fs';
import { basename } from 'node:path';
import {
  type LocalChannel,
  type LocalEvent,
  type LocalInteraction,
  type LocalMessage,
  type LocalUser,
  refusalSentence,
} from '@cinnabar/local-discord';
import { optionValues } from './completion.js';
import { type Act, ConsoleError, HELP, parseLine } from './instruction.js';
import { readChoice } from './menus.js';
import { channelsOf, giveRole, rolesOf, type Stage, withMentions, withNames } from './stage.js';
import { createTranscript, type Style } from './transcript.js';

export interface Session {
  /**
   * Carries out one line and lets the bot finish.
   * @returns whether the person wants to leave
   * @throws ConsoleError when the line cannot be carried out
   */
  line(text: string): Promise<boolean>;
  /** Where lines go: `#general`, `DM`. */
  readonly place: string;
  /** Ids of messages, for completion. */
  readonly messageIds: readonly string[];
}

interface Dependencies {
  readonly stage: Stage;
  /** Called with each line for people as it happens. */
  readonly print: (line: string) => void;
  /** The text of a message as people should read it; names stand in place of mentions already. */
  readonly render?: (text: string) => string;
  /** At a terminal. */
  readonly style?: Style;
  /** Moves time forward. */
  readonly advance: (ms: number, settled: () => Promise<void>) => Promise<void>;
  readonly now: () => number;
  /** Resolves when everything that the line caused has happened. */
  readonly settled: () => Promise<void>;
  /** Opens a page in the user's browser; rejects with the reason when it cannot. Absent without an interactive terminal. */
  readonly openPage?: (address: string) => Promise<void>;
}

type Place = LocalChannel | 'dm';

/** Runs lines on the stage. */
export function createSession(parts: Dependencies): Session {
  const { stage, print, render = (text) => text, style, advance, now, settled, openPage } = parts;
  /** The latest interaction of each person: `submit` fills in its form. */
  const latest = new Map<LocalUser, LocalInteraction>();
  let place: Place = stage.channel;
  const channelOf = (person: LocalUser) => (place === 'dm' ? person.openDm(stage.application) : place);
  const isHere = ({ channel }: LocalMessage) => (place === 'dm' ? channel.isDm : channel === place);
  const transcript = createTranscript({
    render: (text) => render(withNames(stage, text, now())),
    placeOf: (message) => (isHere(message) ? undefined : nameOf(message.channel)),
    ...(style && { style }),
  });
  stage.discord.observe((event: LocalEvent) => {
    for (const line of transcript.lines(event)) print(line);
  });
  const messageOf = (id: string | undefined) =>
    id === undefined ? transcript.latestOf(stage.application.user) : transcript.find(id);
  const placeNamed = (name: string): Place => {
    if (name === 'dm') return 'dm';
    if (!name.startsWith('#')) {
      const { thread } = transcript.find(name);
      if (thread === undefined) throw new ConsoleError(`${name} has no thread. Start one with: thread ${name} a name`);
      return thread;
    }
    const found = channelsOf(stage).find((channel) => channel.name.toLowerCase() === name.slice(1).toLowerCase());
    if (found !== undefined) return found;
    const names = channelsOf(stage).map(({ name: each }) => `#${each}`);
    throw new ConsoleError(
      `There is no channel ${name}; there are ${names.join(', ')}. Make one with: channel ${name.slice(1)}`,
    );
  };

  const act = async (person: LocalUser, what: Act): Promise<LocalInteraction | undefined> => {
    const channel = channelOf(person);
    switch (what.kind) {
      case 'say':
        person.say(channel, withMentions(stage, what.text));
        return undefined;
      case 'reply': {
        const replyTo = messageOf(what.message);
        person.say(replyTo.channel, withMentions(stage, what.text), { replyTo });
        return undefined;
      }
      case 'edit':
        person.edit(messageOf(what.message), withMentions(stage, what.text));
        return undefined;
      case 'delete':
        person.delete(messageOf(what.message));
        return undefined;
      case 'attach':
        person.say(channel, withMentions(stage, what.text), { files: [readUpload(what.file)] });
        return undefined;
      case 'thread': {
        const thread = person.startThread(messageOf(what.message), what.name);
        place = thread;
        print(`now in ${nameOf(thread)}`);
        return undefined;
      }
      case 'channel':
        place = stage.guild.createChannel({ name: what.name });
        print(`now in ${nameOf(place)}`);
        return undefined;
      case 'role':
        print(giveRole(stage, what.name, what.words));
        return undefined;
      case 'go':
        place = placeNamed(what.place);
        print(`now in ${nameOf(channelOf(person))}`);
        return undefined;
      case 'where':
        print(
          `You are in ${nameOf(channel)}. Channels: ${channelsOf(stage).map(nameOf).join(', ')}. People: ${stage
            .people()
            .map(({ username }) => `@${username}`)
            .join(', ')}.${rolesIn(stage)}`,
        );
        return undefined;
      case 'open':
        if (openPage === undefined)
          throw new ConsoleError('A browser is opened from a terminal only. To say it, begin with \\.');
        print('Opening the page in your browser …');
        // A browser may take long to open, or run as long as the started process: the console does not wait for it.
        openPage(stage.discord.entryAddress(person)).catch((error: unknown) => {
          const why = error instanceof Error ? error.message : String(error);
          print(`No browser could be opened (${why}). The page is at ${stage.discord.clientAddress(person)}`);
        });
        return undefined;
      case 'help':
        print(HELP.trimEnd());
        return undefined;
      case 'exit':
        return undefined;
      case 'react':
        person.react(messageOf(what.message), what.emoji);
        return undefined;
      case 'unreact':
        person.unreact(messageOf(what.message), what.emoji);
        return undefined;
      case 'slash':
        return person.slash(channel, what.command, optionValues(stage, what.command, what.options));
      case 'click':
        return person.click(messageOf(what.message), what.target);
      case 'select': {
        const message = messageOf(what.message);
        const { menu, values } = readChoice(message, what.text, stage);
        return person.select(message, menu, values);
      }
      case 'submit': {
        const interaction = latest.get(person);
        if (interaction?.modal === undefined) throw new ConsoleError('No form is open.');
        return person.submit(interaction, what.fields);
      }
      case 'wait':
        await advance(what.ms, settled);
        if (style !== undefined)
          print(style('dim', `it is ${new Date(now()).toISOString().slice(0, 19).replace('T', ' ')} UTC now`));
        return undefined;
    }
  };

  return {
    get place() {
      return place === 'dm' ? 'DM' : nameOf(place);
    },
    get messageIds() {
      return transcript.ids();
    },
    async line(text) {
      const instruction = parseLine(text);
      if (instruction === undefined) return false;
      const person = instruction.who === undefined ? stage.you : stage.member(instruction.who);
      let interaction: LocalInteraction | undefined;
      try {
        interaction = await act(person, instruction.act);
      } catch (error) {
        // Discord's refusal is shown to the person, with Discord's reason.
        throw error instanceof Error ? new ConsoleError(refusalSentence(error), { cause: error }) : error;
      }
      await settled();
      if (interaction !== undefined) {
        latest.set(person, interaction);
        if (interaction.modal !== undefined) {
          print(`form "${interaction.modal.title}" is open; fill it in with: submit field:value`);
        } else if (interaction.state === 'waiting') {
          print('the application did not respond');
        }
      }
      return instruction.act.kind === 'exit';
    },
  };
}

/** The name of a channel in a sentence. */
export function nameOf(channel: LocalChannel): string {
  if (channel.isDm) return 'DM';
  return channel.isThread ? `thread ${channel.name}` : `#${channel.name}`;
}

function rolesIn(stage: Stage): string {
  const names = rolesOf(stage).map(({ name }) => `@${name}`);
  return names.length === 0 ? '' : ` Roles: ${names.join(', ')}.`;
}

function readUpload(file: string): { readonly name: string; readonly data: Buffer } {
  try {
    return { name: basename(file), data: readFileSync(file) };
  } catch (error) {
    throw new ConsoleError(`The file ${file} cannot be read.`, { cause: error });
  }
}
