/** With CINNABAR_TEST_STORAGE=postgres the hosts of all tests keep their data in PostgreSQL. */
import { storeByDefault } from '@cinnabar/core/testing';
import { databaseFor } from './postgres.js';

if (process.env.CINNABAR_TEST_STORAGE === 'postgres') storeByDefault(databaseFor);
