#include "heed/serve/model_shelf.h"

#include <algorithm>

#include "heed/attention/parts.h"
#include "heed/base/one_thread.h"
#include "heed/base/spelling.h"
#include "heed/jobs/explain.h"
#include "heed/serve/http.h"

namespace heed {
namespace {

constexpr std::size_t kVariants = 4;  // each has a copy of the weights

bool is_language(std::string_view text) {
  return text.size() >= 2 && text.size() <= 3 &&
         std::all_of(text.begin(), text.end(), [](char c) { return c >= 'a' && c <= 'z'; });
}

VisitFields fields_of(Config& config) {
  return [&config](Fields& field) { config.visit(field); };
}

std::string value_of(const TranslationBundle& bundle, const char* name) {
  for (const FieldDescription& field : describe_fields(fields_of(*bundle.config)))
    if (field.name == name) return field.value;
  return "";
}

std::vector<TraceAttention> attentions_in(const std::shared_ptr<const TranslationBundle>& bundle) {
  ExplainOptions options;
  options.attentions = true;
  const std::vector<std::string> nothing{""};
  return Explainer(bundle, "").explain_given(nothing, nothing, options).front().attentions;
}

TranslatorOptions translator_options(int threads) {
  TranslatorOptions options;
  options.threads = threads;
  return options;
}

}  // namespace

ModelSource model_source(const std::string& argument) {
  const std::size_t equals = argument.find('=');
  ModelSource source;
  if (equals == std::string::npos) {
    source.folder = argument;
    std::filesystem::path whole = source.folder.lexically_normal();
    if (!whole.has_filename()) whole = whole.parent_path();
    source.name = whole.filename().string();
    if (source.name == "." || source.name == "..")
      source.name = std::filesystem::weakly_canonical(source.folder).filename().string();
  } else {
    source.name = argument.substr(0, equals);
    source.folder = argument.substr(equals + 1);
  }
  const bool plain = std::all_of(source.name.begin(), source.name.end(), [](unsigned char c) {
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '-' || c == '_' ||
           c == '.';
  });
  require(!source.name.empty() && plain,
          "{}: a model's name may have letters, digits, '-', '_' and '.'; give it one with NAME=FOLDER", argument);
  return source;
}

std::shared_ptr<const TranslationBundle> with_normaliser(const TranslationBundle& bundle, const std::string& name) {
  std::vector<std::string> known;
  for (const PartEntry<Normaliser>& entry : RegisterNormaliser::entries()) known.push_back(entry.name);
  std::sort(known.begin(), known.end());
  require(std::find(known.begin(), known.end(), name) != known.end(), "there is no normaliser {}{}", name,
          did_you_mean(name, known));
  const System& system = system_named(bundle.name);
  std::unique_ptr<Config> config = system.config(system.presets.front());
  for (const FieldDescription& field : describe_fields(fields_of(*bundle.config)))
    set_field(fields_of(*config), field.name, field.value, bundle.name);
  require(set_field(fields_of(*config), "normaliser", name, bundle.name), "{} has no normaliser that can be exchanged",
          bundle.name);
  TranslationBundle changed = make_translation(bundle.name, std::move(config), bundle.source, bundle.target, 1);
  const auto &from = bundle.parameters->entries(), &to = changed.parameters->entries();
  const bool fits = std::equal(from.begin(), from.end(), to.begin(), to.end(), [](const auto& a, const auto& b) {
    return a.name == b.name && a.var.shape() == b.var.shape();
  });
  require(fits, "{} has parameters of its own, or takes some away: the weights of the model do not fit", name);
  for (std::size_t i = 0; i < from.size(); ++i) {
    const Tensor values = from[i].var.value().contiguous();
    std::copy_n(values.data(), values.size(), changed.parameters->entries()[i].var.value().data());
  }
  return std::make_shared<const TranslationBundle>(std::move(changed));
}

std::string attention_of(const TranslationBundle& bundle) {
  const std::string score = value_of(bundle, "score");
  if (score.empty()) return "";
  return fmt::format("{} × {} × {}", score, value_of(bundle, "window"), value_of(bundle, "normaliser"));
}

ServedModel::ServedModel(const ModelSource& source, int threads)
    : name_(source.name),
      bundle_(std::make_shared<const TranslationBundle>(
          load_translation(ModelFolder(source.folder), FolderWeights::trained))),
      attentions_(attentions_in(bundle_)),
      translator_(bundle_, translator_options(threads), [](const std::string&) {}) {
  const std::size_t dash = name_.find('-');
  if (dash == std::string::npos) return;
  const std::string from = name_.substr(0, dash), to = name_.substr(dash + 1);
  if (is_language(from) && is_language(to)) source_language_ = from, target_language_ = to;
}

std::shared_ptr<const TranslationBundle> ServedModel::variant(const std::string& normaliser) {
  if (normaliser.empty() || normaliser == value_of(*bundle_, "normaliser")) return bundle_;
  const auto known =
      std::find_if(variants_.begin(), variants_.end(), [&](const auto& each) { return each.first == normaliser; });
  if (known != variants_.end()) return known->second;
  std::shared_ptr<const TranslationBundle> changed;
  try {
    changed = with_normaliser(*bundle_, normaliser);
  } catch (const Error& error) {
    refuse(422, "normaliser: {}", error.what());
  }
  if (variants_.size() == kVariants) variants_.erase(variants_.begin());
  variants_.emplace_back(normaliser, changed);
  return changed;
}

ModelShelf::ModelShelf(const std::vector<ModelSource>& sources, int threads) {
  // OpenMP keeps a team for each thread that ever asked for one, and sleeps between small ops instead of spinning when
  // the teams have more threads than there are processors. The one that counts is that of the thread that does the
  // work.
  const int workers = threads > 0 ? threads : thread_count();
  const OneThread loading;
  require(!sources.empty(), "there is no model to serve");
  for (const ModelSource& source : sources) {
    for (const auto& model : models_)
      require(model->name() != source.name, "two models have the name {}; give one another with NAME=FOLDER",
              source.name);
    models_.push_back(std::make_unique<ServedModel>(source, workers));
  }
}

ServedModel& ModelShelf::named(const std::string& name) const {
  if (name.empty()) return *models_.front();
  std::vector<std::string> known;
  for (const auto& model : models_) {
    if (model->name() == name) return *model;
    known.push_back(model->name());
  }
  refuse(404, "there is no model {}{}", name.substr(0, 80), did_you_mean(name.substr(0, 80), known));
}

ServedModel& ModelShelf::between(const std::string& source, const std::string& target) const {
  bool any = false;
  for (const auto& model : models_) {
    if (model->target_language().empty()) continue;
    any = true;
    const bool from = source.empty() || source == "auto" || source == model->source_language();
    const bool to = target.empty() || target == model->target_language();
    if (from && to) return *model;
  }
  if (any)
    refuse(400, "no model translates from {} to {}; GET /languages lists those there are", source.substr(0, 20),
           target.substr(0, 20));
  return *models_.front();
}

}  // namespace heed
