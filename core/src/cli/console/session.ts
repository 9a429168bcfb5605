import type { LocalChannel, LocalDiscord, LocalEvent, LocalInteraction, LocalUser } from '@cinnabar/sdk/testing';
import { type Act, ConsoleError, parseLine } from './instruction.js';
import type { Transcript } from './transcript.js';

/** The people and the place that the console plays with. */
export interface Stage {
  readonly discord: LocalDiscord;
  readonly channel: LocalChannel;
  readonly bot: LocalUser;
  readonly you: LocalUser;
  /** A member by name; a new name joins the guild. */
  member(name: string): LocalUser;
  /** Moves time forward. */
  advance(ms: number): void;
  /** Resolves when everything that was set off has happened. */
  settled(): Promise<void>;
}

export interface Session {
  /** Carries out one line and lets the bot finish. @throws ConsoleError when the line cannot be carried out */
  line(text: string): Promise<void>;
}

/** Plays lines on the stage. Lines for people go to `print` as they happen. */
export function createSession(stage: Stage, transcript: Transcript, print: (line: string) => void): Session {
  let modal: { readonly interaction: LocalInteraction; readonly user: LocalUser } | undefined;
  stage.discord.observe((event: LocalEvent) => {
    for (const line of transcript.lines(event)) print(line);
  });

  const messageOf = (id: string | undefined) =>
    id === undefined ? transcript.latestOf(stage.bot) : transcript.find(id);
  const remember = (interaction: LocalInteraction, user: LocalUser) => {
    modal = { interaction, user };
    return interaction;
  };

  /** Answers with the interaction that it began, if it did, so that its fate can be told. */
  const act = async (user: LocalUser, what: Act): Promise<LocalInteraction | undefined> => {
    switch (what.kind) {
      case 'say':
        await user.say(stage.channel, what.text);
        return undefined;
      case 'react':
        await user.react(messageOf(what.message), what.emoji);
        return undefined;
      case 'unreact':
        await user.unreact(messageOf(what.message), what.emoji);
        return undefined;
      case 'slash':
        return remember(await user.slash(stage.channel, what.command, what.options), user);
      case 'click':
        return remember(await user.click(messageOf(what.message), what.target), user);
      case 'select':
        return remember(await user.select(messageOf(what.message), undefined, what.values), user);
      case 'submit': {
        if (modal?.interaction.modal === undefined || modal.user !== user) throw new ConsoleError('No form is open.');
        return remember(await user.submit(modal.interaction, what.fields), user);
      }
      case 'wait':
        stage.advance(what.ms);
        return undefined;
    }
  };

  return {
    async line(text) {
      const instruction = parseLine(text);
      if (instruction === undefined) return;
      const user = instruction.who === undefined ? stage.you : stage.member(instruction.who);
      const interaction = await act(user, instruction.act).catch((error: unknown) => {
        throw error instanceof ConsoleError
          ? error
          : new ConsoleError(error instanceof Error ? error.message : String(error));
      });
      await stage.settled();
      if (interaction !== undefined) tellForm(interaction, print);
    },
  };
}

/** A modal is no message: it is shown by its title and fields. */
function tellForm(interaction: LocalInteraction, print: (line: string) => void): void {
  if (interaction.modal === undefined) return;
  print(`form "${interaction.modal.title}" is open; fill it in with: submit field:value`);
}
