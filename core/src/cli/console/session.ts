import { LocalDiscordError, type LocalEvent, type LocalInteraction, type LocalUser } from '@cinnabar/sdk/testing';
import { type Act, ConsoleError, parseLine } from './instruction.js';
import { optionValues } from './option-values.js';
import type { Stage } from './stage.js';
import type { Transcript } from './transcript.js';

export interface Session {
  /** Carries out one line and lets the bot finish. @throws ConsoleError when the line cannot be carried out */
  line(text: string): Promise<void>;
}

interface Parts {
  readonly stage: Stage;
  readonly transcript: Transcript;
  /** Gets each line for people as it happens. */
  readonly print: (line: string) => void;
  /** Moves time forward. */
  readonly advance: (ms: number, settled: () => Promise<void>) => Promise<void>;
  /** Resolves when everything that was set off has happened. */
  readonly settled: () => Promise<void>;
}

/** Plays lines on the stage. */
export function createSession({ stage, transcript, print, advance, settled }: Parts): Session {
  /** The last interaction of each person: its form is what `submit` fills in. */
  const latest = new Map<LocalUser, LocalInteraction>();
  stage.discord.observe((event: LocalEvent) => {
    for (const line of transcript.lines(event)) print(line);
  });
  const messageOf = (id: string | undefined) =>
    id === undefined ? transcript.latestOf(stage.application.user) : transcript.find(id);

  const act = async (person: LocalUser, what: Act): Promise<LocalInteraction | undefined> => {
    switch (what.kind) {
      case 'say':
        person.say(stage.channel, what.text);
        return undefined;
      case 'react':
        person.react(messageOf(what.message), what.emoji);
        return undefined;
      case 'unreact':
        person.unreact(messageOf(what.message), what.emoji);
        return undefined;
      case 'slash':
        return person.slash(stage.channel, what.command, optionValues(stage, what.command, what.options));
      case 'click':
        return person.click(messageOf(what.message), what.target);
      case 'select':
        return person.select(messageOf(what.message), what.menu, what.values);
      case 'submit': {
        const interaction = latest.get(person);
        if (interaction?.modal === undefined) throw new ConsoleError('No form is open.');
        return person.submit(interaction, what.fields);
      }
      case 'wait':
        await advance(what.ms, settled);
        return undefined;
    }
  };

  return {
    async line(text) {
      const instruction = parseLine(text);
      if (instruction === undefined) return;
      const person = instruction.who === undefined ? stage.you : stage.member(instruction.who);
      let interaction: LocalInteraction | undefined;
      try {
        interaction = await act(person, instruction.act);
      } catch (error) {
        // What Discord would refuse is the person's to know, with Discord's reason.
        throw error instanceof Error ? new ConsoleError(reasonOf(error), { cause: error }) : error;
      }
      await settled();
      if (interaction === undefined) return;
      latest.set(person, interaction);
      if (interaction.modal !== undefined) {
        print(`form "${interaction.modal.title}" is open; fill it in with: submit field:value`);
      } else if (interaction.state === 'waiting') {
        print('the application did not respond');
      }
    },
  };
}

/** Discord's "Invalid Form Body" says nothing by itself; its complaints about the fields do. */
function reasonOf(error: Error): string {
  const complaints = error instanceof LocalDiscordError ? complaintsIn(error.errors ?? {}) : [];
  return complaints.length > 0 ? complaints.join(' ') : error.message;
}

function complaintsIn(tree: NonNullable<LocalDiscordError['errors']>): readonly string[] {
  return Object.values(tree).flatMap((branch) =>
    Array.isArray(branch) ? branch.map(({ message }) => message) : complaintsIn(branch),
  );
}
