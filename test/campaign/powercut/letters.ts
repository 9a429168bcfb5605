/** The possible numbers of letters in a queue, derived from the messages to the bot and its answers. The queue delivers nothing. */
export function createLetters() {
  let least = 0;
  let most = 0;
  return {
    /** A letter was sent. The bot may take it at any time: commands in other channels do not wait for it. */
    said() {
      most += 1;
    },
    /** The bot has reported the number of waiting letters. */
    counted(count: number) {
      least = count;
    },
    /** The bot will be asked to clear the queue: until it answers, that may or may not have happened. */
    clearing() {
      least = 0;
    },
    /**
     * The bot has reported the number of letters that `!relay queue clear` dropped. Letters that it had not taken by then still arrive.
     * @throws for an unexpected answer, or for more letters than were sent
     */
    cleared(answer: string) {
      const dropped = answer === 'Nothing was waiting.' ? 0 : Number(/^(\d+) messages? that w/.exec(answer)?.[1]);
      if (!(dropped <= most)) throw new Error(`at most ${most} letters can have been dropped: ${answer}`);
      most -= dropped;
    },
    /**
     * Compares the queue after a power cut with the possible numbers, and restarts the count: letters that the dead process had not taken never arrive.
     * @returns the violations
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
