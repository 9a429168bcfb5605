import type { RestExchange } from '@cinnabar/local-discord';
import { createOpenApiValidator, type OpenApiValidator } from './validator.js';

interface ExchangeCheck {
  /** Records an exchange; it is compared later, so as not to slow down the test. */
  collect(exchange: unknown): void;
  /** Compares and removes the recorded exchanges. @returns a line for each violation of Discord's description */
  violations(): string[];
}

/** Shared by the process: compiling its schemas takes longer than using them. */
let validator: OpenApiValidator | undefined;

/** Records the exchanges of local Discords, and compares them with Discord's description. */
export function createExchangeCheck(): ExchangeCheck {
  let collected: string[] = [];
  return {
    collect(exchange) {
      collected.push(JSON.stringify(exchange));
    },
    violations() {
      const exchanges = collected;
      collected = [];
      if (exchanges.length === 0) return [];
      validator ??= createOpenApiValidator();
      const { check } = validator;
      return exchanges.flatMap((text) => {
        const exchange: RestExchange = JSON.parse(text);
        return check(exchange).map(({ operation, part, problem }) => `${operation}, ${part}: ${problem}`);
      });
    },
  };
}
