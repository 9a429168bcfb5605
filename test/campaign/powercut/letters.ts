/** How many letters a queue may hold, by what was said to the bot and by what the bot answered. Nothing is sent from this queue. */
export function createLetters() {
  let least = 0;
  let most = 0;
  return {
    /** A letter was said. When the bot takes it is open: commands in other channels do not wait for it. */
    said() {
      most += 1;
    },
    /** The bot has told how many wait. */
    counted(count: number) {
      least = count;
    },
    /** The bot is about to be asked to clear the queue: until it answers, that may have happened or not. */
    clearing() {
      least = 0;
    },
    /**
     * The bot has told what `!relay queue clear` dropped. Letters that it had not taken by then still come in.
     * @throws when the answer says something else, or more than were said
     */
    cleared(answer: string) {
      const dropped = answer === 'Nothing was waiting.' ? 0 : Number(/^(\d+) messages? that w/.exec(answer)?.[1]);
      if (!(dropped <= most)) throw new Error(`at most ${most} letters can have been dropped: ${answer}`);
      most -= dropped;
    },
    /**
     * Compares the queue after a power cut with what it may hold, and begins anew from there: letters on their way to the process that is gone
     * do not come any more.
     * @returns what is wrong
     */
    check(count: number): readonly string[] {
      const holds = count >= least && count <= most;
      const found = holds ? [] : [`${count} letters wait, but should ${least} to ${most}`];
      least = count;
      most = count;
      return found;
    },
  };
}
