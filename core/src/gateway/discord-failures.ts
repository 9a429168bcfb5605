import { isTransient } from '@cinnabar/sdk';
import { DiscordAPIError, HTTPError, type RESTOptions } from 'discord.js';

type MakeRequest = RESTOptions['makeRequest'];

/** Tells errors of Discord and of the way to it from those of code that fails by itself. */
export interface DiscordFailures {
  /** For discord.js' requests, their waiting included: remembers which errors they ended with. */
  watch(makeRequest: MakeRequest): MakeRequest;
  /** A 5xx of Discord, or a request to it that got no answer; also as the cause of another error. */
  isOne(error: unknown): boolean;
}

/** A network error alone does not say whose request it was: plugins speak to other servers, too. */
export function createDiscordFailures(): DiscordFailures {
  const unanswered = new WeakSet<Error>();
  return {
    watch: (makeRequest) => async (url, init) => {
      try {
        return await makeRequest(url, init);
      } catch (error) {
        if (error instanceof Error) unanswered.add(error);
        throw error;
      }
    },
    isOne(error) {
      for (let one = error; one instanceof Error; one = one.cause) {
        if (unanswered.has(one)) return true;
        if ((one instanceof HTTPError || one instanceof DiscordAPIError) && isTransient(one)) return true;
      }
      return false;
    },
  };
}
