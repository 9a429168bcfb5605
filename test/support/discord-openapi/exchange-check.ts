import type { RestExchange } from '@cinnabar/local-discord';
import { createOpenApiValidator, type OpenApiValidator } from './validator.js';

export interface ExchangeCheck {
  /** Keeps an exchange as it was on the wire; comparing it would hold up the test in which it happens. */
  collect(exchange: unknown): void;
  /** Compares what was collected, and forgets it: a line for each thing that Discord's description does not admit. */
  violations(): string[];
}

/** One for the process: compiling its schemas takes longer than using them. */
let validator: OpenApiValidator | undefined;

/** Collects the exchanges of local Discords, and holds them to Discord's description. */
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
