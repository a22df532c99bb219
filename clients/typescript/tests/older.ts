/** The wire as a client knows it that was built before a kind of question. */

import { clone, create, createFileRegistry, type DescFile } from "@bufbuild/protobuf";
import {
  type DescriptorProto,
  FileDescriptorProtoSchema,
  FileDescriptorSetSchema,
} from "@bufbuild/protobuf/wkt";
import { file_parley_v1_turns, type TurnService } from "../src/gen/parley/v1/turns_pb.js";

/** Returns the service of turns without choices: no question, no answer, no name for them. */
export function turnServiceWithoutChoices(): typeof TurnService {
  const files = [...inOrder(file_parley_v1_turns)].map((file) =>
    clone(FileDescriptorProtoSchema, file.proto),
  );
  for (const file of files) {
    for (const message of file.messageType) forget(message, ["AskInput", "AcceptAnswer"], "choice");
    for (const kinds of file.enumType) {
      kinds.value = kinds.value.filter((value) => value.name !== "ASK_KIND_CHOICE");
    }
  }
  const older = createFileRegistry(create(FileDescriptorSetSchema, { file: files }));
  return older.getService("parley.v1.TurnService") as typeof TurnService;
}

function forget(message: DescriptorProto, names: string[], field: string): void {
  if (names.includes(message.name)) {
    message.field = message.field.filter((each) => each.name !== field);
  }
}

function inOrder(file: DescFile, before = new Set<DescFile>()): Set<DescFile> {
  for (const dependency of file.dependencies) inOrder(dependency, before);
  return before.add(file);
}
