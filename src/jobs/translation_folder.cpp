#include "heed/jobs/translation_folder.h"

#include "heed/base/error.h"

namespace heed {
namespace {

// All fields, with the sizes of the vocabularies.
VisitFields all_fields(Config& config) {
  return [&config](Fields& field) {
    field("source-vocabulary", config.inputs[0], "entries of the source's vocabulary");
    field("target-vocabulary", config.outputs, "entries of the target's vocabulary");
    config.visit(field);
  };
}

void make_model(TranslationBundle& bundle, std::uint64_t seed, FirstValues first_values) {
  bundle.parameters = std::make_unique<Parameters>(seed, first_values);
  std::unique_ptr<Model> model = system_named(bundle.name).make(Scope(*bundle.parameters), *bundle.config);
  bundle.model.reset(&dynamic_cast<Writer&>(*model));
  static_cast<void>(model.release());
}

std::shared_ptr<const Vocabulary> load_side(const ModelFolder& folder, const std::string& side, Index size) {
  const std::filesystem::path file = folder.vocabulary(side);
  std::shared_ptr<const Vocabulary> vocabulary = load_vocabulary(file);
  require(vocabulary->size() == size, "{}: it has {} entries, but the model was made for {}", file.string(),
          vocabulary->size(), size);
  return vocabulary;
}

}  // namespace

TranslationBundle make_translation(const std::string& name, std::unique_ptr<Config> config,
                                   std::shared_ptr<const Vocabulary> source, std::shared_ptr<const Vocabulary> target,
                                   std::uint64_t seed) {
  TranslationBundle bundle{name, std::move(config), std::move(source), std::move(target), nullptr, nullptr};
  bundle.config->inputs[0] = bundle.source->size();
  bundle.config->outputs = bundle.target->size();
  make_model(bundle, seed, FirstValues::drawn);
  return bundle;
}

ModelFolder create_translation_folder(const std::filesystem::path& path, const TranslationBundle& bundle,
                                      std::vector<ModelFolder::File> others, bool replace) {
  others.push_back({bundle.source->file_name("source"), bundle.source->serialized()});
  others.push_back({bundle.target->file_name("target"), bundle.target->serialized()});
  return ModelFolder::create(path, bundle.name, all_fields(*bundle.config), others, replace);
}

TranslationBundle load_translation(const ModelFolder& folder, FolderWeights weights, std::uint64_t seed) {
  TranslationBundle bundle;
  bundle.name = folder.model();
  // The preset does not matter: every field is in the folder.
  const System& system = system_named(bundle.name);
  bundle.config = system.config(system.presets.front());
  folder.read_config(all_fields(*bundle.config));
  bundle.source = load_side(folder, "source", bundle.config->inputs[0]);
  bundle.target = load_side(folder, "target", bundle.config->outputs);
  const bool trained = weights == FolderWeights::trained;
  make_model(bundle, seed, trained ? FirstValues::left_unset : FirstValues::drawn);
  if (trained) folder.load_weights(*bundle.parameters);
  return bundle;
}

}  // namespace heed
